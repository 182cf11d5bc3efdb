// What a sampler can do, whatever runs it: token ids in, token ids out. Knows no text, no HTTP, no models of users.
// One engine serves one base model and any number of its adapters. Signed by test/contract/inference-engine.ts.
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
  /** Tokens are masked to what keeps to it. Each choice has its own state. Null: free text. */
  readonly constraint: TokenConstraint | null;
  /** Smaller ones first; 0 is usual. */
  readonly priority: number;
  /** Requests of one payer share their part of the queue: nobody waits for another's backlog. */
  readonly payer: string;
  /** Computed prompts are shared between requests of equal scope only. */
  readonly cacheScope: string;
  /** What the model makes of the prompt is asked for too. Only of engines that declare `embeddings`. Default: no. */
  readonly embed?: boolean;
}

/** Of one payer, who asks for free text. */
export const PLAIN_REQUEST = { constraint: null, priority: 0, payer: '', cacheScope: '' } as const;

export interface TokenConstraint {
  readonly constraint: Constraint;
  /** It holds for what follows the first of these (the end of thinking). Null: from the beginning. */
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
  /** Set on the last event of a choice. `stop`: tokenId is one of stopTokenIds, or a constraint's text is complete. */
  readonly finishReason: FinishReason | null;
  /** Once: with the first event; with the last of a choice where an engine knows what was cached only then. */
  readonly prompt?: PromptReport;
}

export interface TokenLogprob {
  readonly tokenId: number;
  readonly logprob: number;
}

export interface PromptReport {
  /** Prompt tokens that did not have to be computed. */
  readonly cachedTokenCount: number;
  /** By prompt token; the first has none. Null: not asked for. */
  readonly logprobs: readonly (readonly RankedLogprob[] | null)[] | null;
  /** `[hidden]`: the state behind the last norm at the last token, from which the head makes logits. Where it was asked for. */
  readonly lastHidden?: readonly number[];
}

/** The first is the prompt's own token; the best ones follow, without it. */
export interface RankedLogprob extends TokenLogprob {
  /** 1 is the most likely. */
  readonly rank: number;
}

/**
 * Ends when every choice has finished or was cancelled. Leaving the loop, or aborting the signal, frees the
 * sequences at once. A choice that cannot go on (`dead_end`) ends without a finish reason: the stream throws when the others
 * have ended, or at once where it had no token yet.
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
 * `bad_model_files` (adapter does not fit the base model), `invalid_constraint` (does not compile), `cancelled` (signal
 * aborted).
 */
export interface InferenceEngine {
  readonly contextLength: number;
  readonly vocabSize: number;
  /** Loads the adapter first if it is not loaded. */
  generate(request: GenerateRequest, signal: AbortSignal): GenerationStream;
  /** Idempotent. Compiles what a request will need, so that a mistake is known before the request begins. Its queue is fair to payers. */
  prepare(constraint: Constraint, payer: string, signal: AbortSignal): Promise<void>;
  /** Idempotent. */
  loadAdapter(adapter: AdapterRef): Promise<void>;
  /** Idempotent; requests that run with it finish. */
  unloadAdapter(id: string): Promise<void>;
  status(): InferenceEngineStatus;
  close(): Promise<void>;
}
