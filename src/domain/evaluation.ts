// Held-out evaluation: a job names prompts that it does not train on, and its checkpoint answers them. An evaluation belongs to its job
// and has the job's id. Prompts and answers are blobs; the client decides how to score them.
import type { ArtifactName } from './artifact.ts';
import type { ChatMessage, ToolDefinition } from './chat.ts';
import type { DatasetVersion } from './sft.ts';

/** The states and the allowed transitions. */
export const NEXT_EVALUATION_STATUS = {
  queued: ['running', 'cancelled'], // waits for the checkpoint, then for a server that samples
  running: ['running', 'succeeded', 'failed', 'cancelled'], // running → running: the server died and another took over
  succeeded: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type EvaluationStatus = keyof typeof NEXT_EVALUATION_STATUS;

export const isEvaluated = (status: EvaluationStatus): boolean => NEXT_EVALUATION_STATUS[status].length === 0;

export interface EvaluationPrompt {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
  /** The reference answer in the data, for scoring. The model never sees it. Null: the data has none. */
  readonly reference: ChatMessage | null;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A valid line with its fields that no evaluation uses, or the reason why it is invalid. */
export type ReadEvaluationLine = (
  line: string,
) => { readonly prompt: EvaluationPrompt; readonly unused: readonly string[] } | { readonly problem: string };

/** Sampling settings for each prompt. Null: the defaults of a chat request. */
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

/** Content of the request blob, as JSON. It holds copies of the prompts, so that later changes or deletions do not affect it. */
export interface EvaluationBody {
  readonly settings: EvaluationSettings;
  /** The artifact with the prompts; null: the request itself has them. */
  readonly source: DatasetVersion | null;
  readonly prompts: readonly EvaluationPrompt[];
}

export interface EvaluationAnswer {
  readonly message: ChatMessage;
  readonly finishReason: string;
  readonly tokenIds: readonly number[];
  /** For each token, nats. */
  readonly logprobs: readonly number[];
}

/** Content of the blob with one prompt's answers, as JSON. */
export interface PromptAnswers {
  readonly answers: readonly EvaluationAnswer[];
  /** Why there are no answers; null if there are. */
  readonly error: string | null;
}

/** One row: the progress of an evaluation. */
export interface Evaluation {
  readonly jobId: string;
  readonly modelId: string;
  readonly entity: string;
  /** The key that submitted the job. */
  readonly keyId: string;
  readonly status: EvaluationStatus;
  readonly attempt: number;
  /** Attempts that began since an answer was stored, including the current one; those that stopped in order do not count. */
  readonly unsettled: number;
  readonly cancelRequested: boolean;
  readonly promptCount: number;
  /** Answers per prompt. */
  readonly sampleCount: number;
  /** Prompts that are done, including those that could not be answered. */
  readonly answeredCount: number;
  readonly failedCount: number;
  /** False: prompts and answers have been deleted. */
  readonly isKept: boolean;
  readonly errorMessage: string | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

/** As a client asks for it; its prompts are read when the job is accepted. */
export interface RequestedEvaluation {
  readonly settings: EvaluationSettings;
  /** Of prompts that bring none. */
  readonly tools: readonly ToolDefinition[] | null;
  readonly prompts: readonly EvaluationPrompt[] | PromptFile;
}

/** `path` null: the file with a well-known name, or the only JSON Lines file. */
export interface PromptFile {
  readonly artifact: ArtifactName & { readonly version: string | null };
  readonly path: string | null;
}
