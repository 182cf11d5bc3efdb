// What every sampler can do: token ids in, token ids out. Knows no text, no HTTP and no users' models.
// One engine serves one base model and any number of its adapters. Contract suite: test/support/contract/inference-engine.ts.
import type { Constraint } from '#domain/constraint';
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
  /** Masks tokens so that the text satisfies the constraint. Each choice has its own state. Null: free text. */
  readonly constraint: TokenConstraint | null;
  /** Smaller numbers go first; 0 is the usual value. */
  readonly priority: number;
  /** Requests of one payer share that payer's part of the queue, so no payer waits for another's backlog. */
  readonly payer: string;
  /** Computed prompts are shared only between requests with the same scope. */
  readonly cacheScope: string;
  /** Also returns the prompt's hidden state. Only for engines that declare `embeddings`. Default: false. */
  readonly embed?: boolean;
}

/** A request for free text by a single payer. */
export const PLAIN_REQUEST = { constraint: null, priority: 0, payer: '', cacheScope: '' } as const;

export interface TokenConstraint {
  readonly constraint: Constraint;
  /** The constraint applies to the text after the first of these tokens (the end of reasoning). Null: from the start. */
  readonly afterTokenId: number | null;
}

export interface TokenEvent {
  readonly choiceIndex: number;
  readonly tokenId: number;
  /**
   * Log-softmax in float32 of the raw logits, nats: before penalties, temperature and filters, but after a constraint's
   * mask.
   */
  readonly logprob: number;
  readonly topLogprobs: readonly TokenLogprob[];
  /** Set on the last event of a choice. `stop`: tokenId is one of stopTokenIds, or the constrained text is complete. */
  readonly finishReason: FinishReason | null;
  /** Sent once: with the first event, or with the last event of a choice if the engine only then knows what was cached. */
  readonly prompt?: PromptReport;
}

export interface TokenLogprob {
  readonly tokenId: number;
  readonly logprob: number;
}

export interface PromptReport {
  /** Prompt tokens that were taken from the cache. */
  readonly cachedTokenCount: number;
  /** One per prompt token; none for the first. Null: not requested. */
  readonly logprobs: readonly (readonly RankedLogprob[] | null)[] | null;
  /** `[hidden]`: the state after the last norm at the last token, from which the head computes logits. Set if requested. */
  readonly lastHidden?: readonly number[];
}

/** The first entry is the prompt's own token; the most likely other tokens follow. */
export interface RankedLogprob extends TokenLogprob {
  /** 1 is the most likely. */
  readonly rank: number;
}

/**
 * Ends when every choice has finished or was cancelled. Leaving the loop, or aborting the signal, frees the
 * sequences at once. A choice that cannot continue (`dead_end`) ends without a finish reason: the stream throws when the other
 * choices have ended, or at once if that choice had no token yet.
 */
export interface GenerationStream extends AsyncIterable<TokenEvent> {
  /** Stops one choice, for example because its text contains a stop string. No further events of it follow. */
  cancelChoice(choiceIndex: number): void;
}

export interface InferenceEngineStatus {
  ready: boolean;
  running: number;
  waiting: number;
  adapters: readonly string[];
  /** How often the engine's process was replaced, and the reason for the last replacement. */
  restarts: number;
  lastFailure: string | null;
}

/**
 * Codes thrown: `too_many_requests` (queue full), `engine_unavailable` (starting, or its process died: safe to retry),
 * `bad_model_files` (adapter does not fit the base model), `invalid_constraint` (does not compile), `cancelled` (signal
 * aborted).
 */
export interface InferenceEngine {
  readonly contextLength: number;
  readonly vocabSize: number;
  /** Loads the adapter first if it is not loaded. */
  generate(request: GenerateRequest, signal: AbortSignal): GenerationStream;
  /** Idempotent. Compiles what a request will need, so that errors are reported before it starts. The queue is fair to payers. */
  prepare(constraint: Constraint, payer: string, signal: AbortSignal): Promise<void>;
  /** Idempotent. */
  loadAdapter(adapter: AdapterRef): Promise<void>;
  /** Idempotent. Requests that use the adapter finish normally. */
  unloadAdapter(id: string): Promise<void>;
  status(): InferenceEngineStatus;
  close(): Promise<void>;
}
