// What a sampler can do, whatever runs it: token ids in, token ids out. Knows no text, no HTTP, no models of users.
// One engine serves one base model and any number of its adapters. Signed by test/contract/inference-engine.ts.
import type { FinishReason, SamplingParams } from '#domain/sampling';

/** LoRA weights on disk: a PEFT directory. The id is unique and immutable: same id, same bytes. */
export interface AdapterRef {
  readonly id: string;
  readonly directory: string;
}

export interface GenerateRequest {
  readonly requestId: string;
  /** Non-empty; promptTokens.length + maxTokens ≤ contextLength. */
  readonly promptTokens: readonly number[];
  readonly adapter: AdapterRef | null;
  readonly sampling: SamplingParams;
  /** Number of choices; the prompt is computed once. */
  readonly n: number;
}

export interface TokenEvent {
  readonly choiceIndex: number;
  readonly tokenId: number;
  /** Log-softmax of the raw logits in float32, nats; before temperature and filters. */
  readonly logprob: number;
  readonly topLogprobs: readonly { tokenId: number; logprob: number }[];
  /** Set on the last event of a choice. `stop`: tokenId is one of stopTokenIds. */
  readonly finishReason: FinishReason | null;
}

/**
 * Ends when every choice has finished or was cancelled. Leaving the loop, or aborting the signal, frees the
 * sequences at once.
 */
export interface GenerationStream extends AsyncIterable<TokenEvent> {
  /** Stops one choice (a stop string was found in its text). No event of it follows. */
  cancelChoice(choiceIndex: number): void;
}

export interface InferenceEngineStatus {
  ready: boolean;
  running: number;
  waiting: number;
  adapters: readonly string[];
  /** Times the engine's process was replaced, and why the last time. */
  restarts: number;
  lastFailure: string | null;
}

/**
 * Codes thrown: `too_many_requests` (queue full), `engine_unavailable` (starting, or its process died: safe to retry),
 * `bad_model_files` (adapter does not fit the base model), `cancelled` (signal aborted).
 */
export interface InferenceEngine {
  readonly contextLength: number;
  readonly vocabSize: number;
  /** Loads the adapter first if it is not loaded. */
  generate(request: GenerateRequest, signal: AbortSignal): GenerationStream;
  /** Idempotent. */
  loadAdapter(adapter: AdapterRef): Promise<void>;
  /** Idempotent; requests that run with it finish. */
  unloadAdapter(id: string): Promise<void>;
  status(): InferenceEngineStatus;
  close(): Promise<void>;
}
