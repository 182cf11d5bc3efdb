// What the HTTP layer needs from the layers below, as main.ts hands it over.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Tracing } from '#base/tracing';
import type { AccountLimits } from '#services/account-limits';
import type { ApiKeys } from '#services/api-keys';
import type { Artifacts } from '#services/artifacts';
import type { BaseModels } from '#services/base-models';
import type { Chat } from '#services/chat';
import type { Checkpoints } from '#services/checkpoints';
import type { Health } from '#services/health';
import type { Idempotent } from '#services/idempotency';
import type { LogTrajectories } from '#services/log-trajectories';
import type { Models } from '#services/models';
import type { TrainingJobs } from '#services/training-jobs';
import type { Usage } from '#services/usage';
import type { Webhooks } from '#services/webhooks';
import type { Pace } from './body-stream.ts';
import type { ConnectionLimits } from './connections.ts';
import type { Metrics } from './metrics.ts';

export interface ApiServices {
  readonly apiKeys: ApiKeys;
  readonly accountLimits: AccountLimits;
  readonly baseModels: BaseModels;
  readonly models: Models;
  readonly chat: Chat;
  readonly checkpoints: Checkpoints;
  readonly trainingJobs: TrainingJobs;
  readonly logTrajectories: LogTrajectories;
  readonly artifacts: Artifacts;
  readonly usage: Usage;
  readonly webhooks: Webhooks;
  readonly health: Health;
  readonly idempotent: Idempotent;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ApiLimits {
  /** `/api/training` makes every path answer under that prefix too. '' for none. */
  readonly basePath: string;
  readonly bodyBytesMax: number;
  /** Of requests that carry trajectories. */
  readonly trainingBodyBytesMax: number;
  /** Of a file that becomes part of an artifact. */
  readonly fileBytesMax: number;
  readonly bodyPace: Pace;
  readonly connections: ConnectionLimits;
  /** Quiet streams get a comment this often. */
  readonly pingMs: number;
  /** How long an idle connection is kept: longer than clients' pools keep theirs. */
  readonly keepAliveMs: number;
}
