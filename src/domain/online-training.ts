// Online training of a model: the server makes its RL jobs by itself, one after another, whenever enough groups of episodes are
// complete. Knows the rules of one model's training, no store and no service.
import type { RequestedEvaluation } from './evaluation.ts';
import type { RlConfigInput } from './trajectory.ts';

/** `paused`: something failed; setting it again goes on. `reached`: the model has the step that was asked for. */
export const ONLINE_STATUSES = ['active', 'paused', 'reached'] as const;
export type OnlineStatus = (typeof ONLINE_STATUSES)[number];

/** What the owner asked for. */
export interface OnlineSettings {
  /** Complete groups that a job is made of. */
  readonly groupsPerStep: number;
  /** A group is complete with so many rewarded episodes, no open one, and a call that is trained. */
  readonly groupSizeMin: number;
  /** Episodes that were sampled more steps before the latest one do not count. Null: all do. */
  readonly maxStaleness: number | null;
  /** Ends when the model has this step. Null: never. */
  readonly untilStep: number | null;
}

/** What each job gets. */
export interface OnlineJob {
  readonly config: RlConfigInput;
  readonly warnings: readonly string[];
  readonly evaluation: RequestedEvaluation | null;
}

export interface NewOnlineTraining extends OnlineSettings {
  readonly id: string; // uuid
  readonly modelId: string;
  readonly entity: string;
  /** Its limits hold for the jobs. */
  readonly keyId: string;
  readonly job: OnlineJob;
  /** `experimental_config` and `evaluation` as they were sent, to be shown. */
  readonly sent: Readonly<Record<string, unknown>>;
}

export interface OnlineTraining extends NewOnlineTraining {
  readonly status: OnlineStatus;
  /** A sentence; null unless it is paused. */
  readonly pausedBy: string | null;
  /** Why its next job could not be made at the last attempt; it is tried again. */
  readonly lastProblem: string | null;
  /** Jobs that it has made. */
  readonly jobCount: number;
  /** Null: none since it was set. */
  readonly lastJobId: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Of the right to make its next job; later writes name it. */
  readonly attempt: number;
  /** Attempts that began and did not end, one after another. */
  readonly unsettled: number;
}

/** After so many attempts that ended their server, or failed without a reason to name, it is paused. */
export const UNSETTLED_MAX = 3;
