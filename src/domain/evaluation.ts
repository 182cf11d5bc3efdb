// Held-out evaluation: prompts that a job names and is not trained on, which the checkpoint that it makes answers. An evaluation
// is its job's, and has the job's id. Prompts and answers are blobs; what they are worth is the client's business.
import type { ChatMessage, ToolDefinition } from './chat.ts';
import type { DatasetVersion } from './sft.ts';

/** The states and their order. */
export const NEXT_EVALUATION_STATUS = {
  queued: ['running', 'cancelled'], // it waits for the checkpoint, then for a server that samples
  running: ['running', 'succeeded', 'failed', 'cancelled'], // running → running: the server died, another went on
  succeeded: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type EvaluationStatus = keyof typeof NEXT_EVALUATION_STATUS;

export const isEvaluated = (status: EvaluationStatus): boolean => NEXT_EVALUATION_STATUS[status].length === 0;

export interface EvaluationPrompt {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
  /** What the data says in the answer's place, for whoever gives rewards. Never shown to the model. Null: nothing. */
  readonly reference: ChatMessage | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A line that was read, or why it could not be. */
export type ReadEvaluationLine = (line: string) => { readonly prompt: EvaluationPrompt } | { readonly problem: string };

/** How each prompt is answered. Null: as in a chat request that does not say. */
export interface EvaluationSettings {
  /** Answers per prompt. */
  readonly samples: number;
  readonly maxTokens: number;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly stop: readonly string[];
  /** Answer i of prompt p samples with seed + p · samples + i. */
  readonly seed: number;
  readonly chatTemplateKwargs: Readonly<Record<string, unknown>>;
}

/** What the request blob holds, as JSON: prompts are copied, so that nobody changes or deletes them meanwhile. */
export interface EvaluationBody {
  readonly settings: EvaluationSettings;
  /** Where the prompts come from; null: from the request itself. */
  readonly source: DatasetVersion | null;
  readonly prompts: readonly EvaluationPrompt[];
}

export interface EvaluationAnswer {
  readonly message: ChatMessage;
  readonly finishReason: string;
  readonly tokenIds: readonly number[];
  /** Of each token, nats. */
  readonly logprobs: readonly number[];
}

/** What the blob of one prompt's answers holds, as JSON. */
export interface PromptAnswers {
  readonly answers: readonly EvaluationAnswer[];
  /** Why there are none; null: there are. */
  readonly error: string | null;
}

/** One row: how far it is. */
export interface Evaluation {
  readonly jobId: string;
  readonly modelId: string;
  readonly entity: string;
  /** Who submitted the job. */
  readonly keyId: string;
  readonly status: EvaluationStatus;
  readonly attempt: number;
  readonly cancelRequested: boolean;
  readonly promptCount: number;
  /** Per prompt. */
  readonly sampleCount: number;
  /** Prompts that are done, those that could not be answered among them. */
  readonly answeredCount: number;
  readonly failedCount: number;
  /** False: prompts and answers are not kept any more. */
  readonly isKept: boolean;
  readonly errorMessage: string | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}
