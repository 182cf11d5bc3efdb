// The services of one server, by subject, over open stores and models. Only decides which service gets what; how each of them
// works is in services/*. Their background work is in background.ts.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { createAccountLimits } from '#services/accounts/account-limits';
import { createIdempotent } from '#services/accounts/idempotency';
import type { RequestUse } from '#domain/usage';
import type { Usage } from '#services/accounts/usage';
import { createAdapterCommit } from '#services/artifacts/adapter-commit';
import { createArtifactDrafts } from '#services/artifacts/artifact-drafts';
import { createArtifacts } from '#services/artifacts/artifacts';
import { createChat } from '#services/chat/chat';
import { createCompletions } from '#services/chat/completions';
import { createEmbed } from '#services/chat/embeddings';
import { createSampledTokens } from '#services/chat/sampled-tokens';
import { createTokenization } from '#services/chat/tokenization';
import { createEpisodeTrees } from '#services/episodes/episode-trees';
import { createEpisodes } from '#services/episodes/episodes';
import { createOnlineTrainings } from '#services/episodes/online-training';
import { createRecorder } from '#services/episodes/recorder';
import { createAcceptEvaluation } from '#services/evaluations/accept-evaluation';
import { createEvaluations } from '#services/evaluations/evaluations';
import { createHealth } from '#services/health';
import type { JobObserver } from '#services/jobs/attempt/job-attempt';
import { createDatasetRows } from '#services/jobs/reading-back/dataset-rows';
import { createJobEvents } from '#services/jobs/job-events';
import { createJobInputs } from '#services/jobs/reading-back/job-inputs';
import { createLogTrajectories } from '#services/jobs/reading-back/log-trajectories';
import { createLoggedTrajectories } from '#services/jobs/reading-back/logged-trajectories';
import { recallTokens } from '#services/jobs/data/recall-tokens';
import { createOverviews } from '#services/overview';
import { createStepHistory } from '#services/jobs/reading-back/step-history';
import { createLiveResponses } from '#services/responses/live-responses';
import type { ResponseWriter } from '#services/responses/response-content';
import { createResponses } from '#services/responses/responses';
import { createTrainingJobs } from '#services/jobs/training-jobs';
import { createCheckpoints } from '#services/models/checkpoints';
import { createModels } from '#services/models/models';
import { createRuns } from '#services/runs/runs';
import { createWebhookAddresses } from '#services/webhooks/webhook-address';
import { createWebhooks } from '#services/webhooks/webhooks';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { WebhookStore } from '#storage/webhook-store';
import { createTinker } from '#services/tinker/tinker';
import type { ServerConfig } from '#config/server-config';
import type { CloseStack } from './close-stack.ts';
import type { HostedModels } from './hosted-models.ts';

/** For a client that polls the result of its request; the SDK gives up after 45 s. */
const TINKER_WAIT_MS = 25_000;

export interface ServiceParts {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  /** A store that encrypts its secrets. */
  readonly webhookStore: WebhookStore;
  readonly hosted: HostedModels;
  readonly usage: Usage;
  readonly observer: JobObserver;
  readonly responseWriter: ResponseWriter;
  readonly clock: Clock;
  readonly log: Log;
}

export function createServices(config: ServerConfig, parts: ServiceParts, open: CloseStack) {
  const { storage, blobs, webhookStore, hosted, usage, observer, clock, log } = parts;
  const { baseModels } = hosted;

  const limits = createAccountLimits({ storage, clock });
  const idempotent = createIdempotent(storage.idempotency, clock, log);

  const models = createModels({ storage, blobs, baseModels, limits, clock, log });
  const checkpoints = createCheckpoints({ storage, blobs, baseModels, clock, log });

  const sampledTokens = createSampledTokens();
  const episodeTrees = createEpisodeTrees(storage.episodes);
  const recorder = createRecorder({
    store: storage.episodes,
    trees: episodeTrees,
    limits,
    bounds: config.episodes,
    clock,
  });
  const answering = {
    models,
    recordUsage: (use: RequestUse) => usage.record(use),
    settings: {
      priorities: config.chat.schedulingPolicy === 'priority',
      logprobsMax: config.chat.logprobsMax,
    },
    limits,
    recorder,
    clock,
    log,
  };
  const chat = createChat({ ...answering, sampledTokens, acceptsTemplates: config.chat.trustRequestTemplates });
  const completions = createCompletions({ ...answering, sampledTokens });
  const embed = createEmbed(answering);
  const tokenization = createTokenization({ models });
  const liveResponses = createLiveResponses();
  const responses = createResponses({
    storage,
    blobs,
    chat,
    limits,
    live: liveResponses,
    writer: parts.responseWriter,
    clock,
    keeps: config.responses.keepMs > 0,
    backgroundMax: config.responses.backgroundMax,
  });

  const artifacts = createArtifacts({ storage, blobs, clock, log, fileBytesMax: config.api.fileBytesMax, limits });
  const runs = createRuns({ storage, limits, clock, log });
  const commitAdapter = createAdapterCommit({ storage, blobs, baseModels, limits, clock, log });
  const artifactDrafts = createArtifactDrafts({ storage, blobs, artifacts, limits, commitAdapter, runs, clock });
  const datasetRows = createDatasetRows({ artifacts, baseModels });

  const jobEvents = createJobEvents();
  const trainingJobs = createTrainingJobs({
    storage,
    blobs,
    jobEvents,
    clock,
    log,
    queuedJobsMax: config.jobs.queuedMax,
    limits,
    observer,
    artifacts,
    acceptEvaluation: createAcceptEvaluation({ artifacts, limits: config.evaluation }),
    recall: (groups, model) => recallTokens(groups, model, sampledTokens),
  });
  const getJob: typeof trainingJobs.get = (caller, id) => trainingJobs.get(caller, id);
  const jobInputs = createJobInputs({ storage, blobs, baseModels, getJob });
  const evaluations = createEvaluations({ storage, blobs, getJob, clock, log });
  const loggedTrajectories = createLoggedTrajectories({ storage, blobs });
  const stepHistory = createStepHistory({ storage });
  const overviews = createOverviews({ storage, usage, clock });
  const logTrajectories = createLogTrajectories({ storage, blobs, limits, clock });

  const episodes = createEpisodes({
    storage,
    baseModels,
    trees: episodeTrees,
    limits,
    bounds: config.episodes,
    jobEvents,
    clock,
    log,
  });

  const onlineTrainings = createOnlineTrainings({
    storage,
    trainingJobs,
    wake: () => jobEvents.notify(null),
    clock,
    log,
  });

  const webhookAddresses = createWebhookAddresses(config.webhookNetworks);
  const webhooks = createWebhooks({ store: webhookStore, jobEvents, clock, addresses: webhookAddresses });

  const tinker = createTinker({
    storage,
    blobs,
    baseModels,
    models,
    limits,
    clock,
    log,
    recordUsage: answering.recordUsage,
    waitMs: TINKER_WAIT_MS,
    aliases: config.tinkerAliases,
  });
  open.add(async () => tinker.sampling.stop());

  const health = createHealth({
    storage,
    baseModels: { list: hosted.sampled },
    trainingFaults: hosted.trainingFaults,
    clock,
    deadlineMs: config.healthDeadlineMs,
  });

  return {
    accountLimits: limits,
    idempotent,
    models,
    checkpoints,
    chat,
    completions,
    embed,
    tokenization,
    liveResponses,
    responses,
    artifacts,
    artifactDrafts,
    commitAdapter,
    datasetRows,
    runs,
    episodes,
    onlineTrainings,
    jobEvents,
    trainingJobs,
    jobInputs,
    evaluations,
    logTrajectories,
    loggedTrajectories,
    stepHistory,
    overviews,
    webhookAddresses,
    webhooks,
    tinker,
    health,
  };
}

export type Services = ReturnType<typeof createServices>;
