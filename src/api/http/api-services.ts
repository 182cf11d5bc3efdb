// The services that the HTTP layer needs from the layers below; main.ts passes them in.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Tracing } from '#base/tracing';
import type { MetricsAccess } from '#domain/metrics-access';
import type { WeaveTraces } from '#domain/weave-traces';
import type { AccountLimits } from '#services/accounts/account-limits';
import type { ApiKeys } from '#services/accounts/api-keys';
import type { ArtifactDrafts } from '#services/artifacts/artifact-drafts';
import type { Artifacts } from '#services/artifacts/artifacts';
import type { BaseModels } from '#services/models/base-models';
import type { Chat } from '#services/chat/chat';
import type { Completions } from '#services/chat/completions';
import type { Embed } from '#services/chat/embeddings';
import type { Tokenization } from '#services/chat/tokenization';
import type { Checkpoints } from '#services/models/checkpoints';
import type { Evaluations } from '#services/evaluations/evaluations';
import type { Episodes } from '#services/episodes/episodes';
import type { OnlineTrainings } from '#services/episodes/online-training';
import type { Health } from '#services/health';
import type { Idempotent } from '#services/accounts/idempotency';
import type { DatasetRows } from '#services/jobs/reading-back/dataset-rows';
import type { JobInputs } from '#services/jobs/reading-back/job-inputs';
import type { LogTrajectories } from '#services/jobs/reading-back/log-trajectories';
import type { LoggedTrajectories } from '#services/jobs/reading-back/logged-trajectories';
import type { Models } from '#services/models/models';
import type { Overviews } from '#services/overview';
import type { StepHistory } from '#services/jobs/reading-back/step-history';
import type { Responses } from '#services/responses/responses';
import type { TrainingJobs } from '#services/jobs/training-jobs';
import type { Tinker } from '#services/tinker/tinker';
import type { Usage } from '#services/accounts/usage';
import type { Runs } from '#services/runs/runs';
import type { Webhooks } from '#services/webhooks/webhooks';
import type { Workers } from '#services/workers';
import type { Pace } from './body-stream.ts';
import type { AllowedHosts } from './browsers.ts';
import type { ConnectionLimits } from './connections.ts';
import type { Metrics } from './metrics.ts';

export interface ApiServices {
  readonly apiKeys: ApiKeys;
  readonly accountLimits: AccountLimits;
  readonly baseModels: BaseModels;
  readonly models: Models;
  readonly chat: Chat;
  readonly completions: Completions;
  readonly embed: Embed;
  readonly tokenization: Tokenization;
  readonly responses: Responses;
  readonly checkpoints: Checkpoints;
  readonly trainingJobs: TrainingJobs;
  readonly jobInputs: JobInputs;
  readonly evaluations: Evaluations;
  readonly logTrajectories: LogTrajectories;
  readonly loggedTrajectories: LoggedTrajectories;
  readonly stepHistory: StepHistory;
  readonly overviews: Overviews;
  readonly artifacts: Artifacts;
  readonly artifactDrafts: ArtifactDrafts;
  readonly datasetRows: DatasetRows;
  readonly tinker: Tinker;
  readonly runs: Runs;
  readonly episodes: Episodes;
  readonly onlineTrainings: OnlineTrainings;
  readonly usage: Usage;
  readonly webhooks: Webhooks;
  readonly workers: Workers;
  readonly health: Health;
  readonly idempotent: Idempotent;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ApiLimits {
  /** `/api/training` makes every path available under that prefix too. '': no prefix. */
  readonly basePath: string;
  /** Host names by which requests may address the server; null: any. */
  readonly hosts: AllowedHosts | null;
  /** Origins of web pages that may call the server from a browser; `*`: all. */
  readonly origins: readonly string[];
  readonly metricsAccess: MetricsAccess;
  readonly weaveTraces: WeaveTraces;
  readonly bodyBytesMax: number;
  /** Maximum size of request bodies with trajectories. */
  readonly trainingBodyBytesMax: number;
  /** Maximum size of a file of an artifact. */
  readonly fileBytesMax: number;
  readonly bodyPace: Pace;
  readonly connections: ConnectionLimits;
  /** Interval at which idle event streams send a comment. */
  readonly pingMs: number;
  /** How long an idle connection is kept open: longer than client connection pools keep theirs. */
  readonly keepAliveMs: number;
}
