// A durable unit of training work. One job makes one checkpoint. The table below defines the states and the allowed transitions.

export const NEXT_STATUS = {
  queued: ['running', 'cancelled'],
  running: ['running', 'succeeded', 'failed', 'cancelled'], // running → running: the process died and a new attempt took over
  succeeded: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type JobStatus = keyof typeof NEXT_STATUS;
export const JOB_TYPES = ['rl', 'sft', 'dpo'] as const;
export type JobType = (typeof JOB_TYPES)[number];

export const isFinished = (status: JobStatus): boolean => NEXT_STATUS[status].length === 0;

/** Why data was not trained on, with counts: `{ "equal_rewards": 3, "no_trainable_tokens": 1 }`. */
export type Skipped = Readonly<Record<string, number>>;

/** What a job that cannot go on now waits behind. */
export interface WaitingFor {
  /** `trainer`: for one that is there; `job`, `training_client`: for its turn behind that one. */
  readonly kind: 'trainer' | 'job' | 'training_client';
  /** Null for another entity's, and for a trainer. */
  readonly id: string | null;
}

export interface TrainingJob {
  readonly id: string; // uuid
  readonly type: JobType;
  readonly modelId: string;
  readonly entity: string;
  /** The key that submitted it. */
  readonly keyId: string;
  readonly status: JobStatus;
  /** Blob with the accepted request body. Empty: it has been deleted. */
  readonly bodyBlob: string;
  readonly attempt: number;
  /** The attempt that last saved progress; 0: none did. */
  readonly savedAttempt: number;
  readonly cancelRequested: boolean;
  /** The step of the checkpoint that this job makes; null until it runs. */
  readonly step: number | null;
  /** 0…1 */
  readonly progress: number;
  readonly skipped: Skipped;
  readonly errorMessage: string | null;
  /** Null: it does not wait, or has only just begun to. */
  readonly waitingFor: WaitingFor | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
}

/** `training_waiting` may stand before and between the others. */
export const EVENT_TYPES = [
  'training_started',
  'gradient_step',
  'training_ended',
  'training_failed',
  'training_waiting',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** In a sentence, for people. */
export function sayWaiting({ kind, id }: WaitingFor): string {
  if (kind === 'trainer') return 'It waits for a trainer: none is ready.';
  const what = kind === 'job' ? 'training job' : 'training client';
  return `It waits for its turn behind ${id === null ? `a ${what} of another account` : `the ${what} ${id}`}.`;
}

export interface TrainingEvent {
  readonly id: string; // uuid
  readonly jobId: string;
  /**
   * 0, 1, 2, … without gaps. Each (job, ordinal) is stored once, so that a replayed job repeats no event. A `training_waiting` has that of
   * the event before it, −1 if there is none.
   */
  readonly ordinal: number;
  readonly type: EventType;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
}
