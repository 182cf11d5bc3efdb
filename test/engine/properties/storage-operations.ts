// The operations that a property test may run on a Storage. Ids are few and attempts low, so that operations meet each other's
// rows.
import fc from 'fast-check';
import type { JobStatus, WaitingFor } from '#domain/training-job';
import { usageId, type UsageEntry } from '#domain/usage';
import type { NewEvent } from '#storage/storage';
import type { TestedStorage } from './plain-storage/tested-storage.ts';
import { asked, type Moment, type Operation } from './asked.ts';
import { episodeOperations } from './episode-operations.ts';

export const ENTITIES = ['one', 'two'];
export const MODELS = ['m0', 'm1', 'm2'];
export const JOBS = ['j0', 'j1', 'j2', 'j3', 'j4'];

export type { Moment, Operation };

const LEASE_MS = 30;
const STATUSES: readonly JobStatus[] = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];

export const entityOf = (modelId: string): string => ENTITIES[MODELS.indexOf(modelId) % 2]!;

export const createModel = (storage: TestedStorage, id: string, { nowMs, sequence }: Moment) =>
  storage.models.create(
    { id, entity: entityOf(id), project: 'p', name: id, baseModel: 'b', runId: null, createdAtMs: nowMs },
    newCheckpoint(id, 0, sequence),
  );

export const createJob = (storage: TestedStorage, id: string, modelId: string, { nowMs }: Moment) =>
  storage.jobs.create({
    id,
    type: 'rl',
    modelId,
    entity: entityOf(modelId),
    keyId: 'k',
    bodyBlob: id,
    createdAtMs: nowMs,
  });

const newCheckpoint = (modelId: string, step: number, sequence: number) => ({
  id: `c${sequence}`,
  modelId,
  step,
  metrics: { 'train/reward': sequence / 3 },
  blobPrefix: `checkpoints/${modelId}/${sequence}`,
  fresh: step === 0,
  createdAtMs: sequence,
});

const newEvent = (jobId: string, ordinal: number, sequence: number): NewEvent => ({
  id: `e${sequence}`,
  jobId,
  ordinal,
  type: 'gradient_step',
  data: { sequence, note: "it's" },
  createdAtMs: sequence,
});

const waitingFor = fc.constantFrom<WaitingFor | null>(null, { kind: 'job', id: 'j0' }, { kind: 'trainer', id: null });

const DAYS = ['2026-06-01', '2026-06-02', '2026-06-03'];

/** Few keys, so that they collide. */
const usageEntry: fc.Arbitrary<UsageEntry> = fc.record({
  entity: fc.constantFrom(...ENTITIES),
  keyId: fc.constantFrom('k', 'l'),
  project: fc.constantFrom('', 'p'),
  model: fc.constantFrom('base', 'wandb-artifact:///one/p/m0:step1'),
  dayUtc: fc.constantFrom(...DAYS),
  requests: fc.constantFrom(1, 2),
  promptTokens: fc.nat(),
  cachedTokens: fc.nat(9),
  completionTokens: fc.nat(9),
});

const model = fc.constantFrom(...MODELS);
const job = fc.constantFrom(...JOBS);
const attempt = fc.constantFrom(1, 1, 1, 2, 3);
const ordinal = fc.constantFrom(0, 0, 1, 2);
const step = fc.constantFrom(0, 1, 2, 3);
const worker = fc.constantFrom('a', 'b');
const key = fc.constantFrom('k', 'l');
const page = (ids: readonly string[]) =>
  fc.record({ after: fc.constantFrom(null, 'unknown', ...ids), limit: fc.integer({ min: 0, max: 4 }) });

export const anOperation: fc.Arbitrary<Operation> = fc.oneof(
  asked('models.create', 2, model, createModel),
  asked('models.delete', 1, model, async ({ models }, id) => {
    const gone = await models.delete(id);
    return gone && { ...gone, bodyBlobs: [...gone.bodyBlobs].sort() }; // their order has no meaning
  }),
  asked('models.list', 1, fc.tuple(fc.constantFrom(...ENTITIES), page(MODELS)), ({ models }, [entity, at]) =>
    models.list({ entity }, at),
  ),

  asked('jobs.create', 4, fc.tuple(job, model), (storage, [id, modelId], moment) =>
    createJob(storage, id, modelId, moment),
  ),
  asked('jobs.claim', 8, worker, ({ jobs }, who, { nowMs }) => jobs.claim(who, nowMs, LEASE_MS, null)),
  asked('jobs.renewLease', 2, fc.tuple(job, attempt), ({ jobs }, [id, nth], { nowMs }) =>
    jobs.renewLease(id, nth, nowMs + LEASE_MS),
  ),
  asked('jobs.releaseLeases', 1, fc.option(worker), ({ jobs }, who) => jobs.releaseLeases(who)),
  asked('jobs.assignStep', 2, fc.tuple(job, attempt), ({ jobs }, [id, nth]) => jobs.assignStep(id, nth)),
  asked(
    'jobs.updateProgress',
    2,
    fc.tuple(
      job,
      attempt,
      fc.record(
        {
          progress: fc.double({ min: 0, max: 1, noNaN: true }),
          skipped: fc.constant({ too_long: 2 }),
          startedAtMs: fc.nat(),
        },
        { requiredKeys: [] },
      ),
    ),
    ({ jobs }, [id, nth, update]) => jobs.updateProgress(id, nth, update),
  ),
  asked(
    'jobs.noteWaiting',
    3,
    fc.record({ id: job, nth: fc.option(attempt), was: waitingFor, now: waitingFor, isSaid: fc.boolean() }),
    ({ jobs }, { id, nth, was, now, isSaid }, { nowMs, sequence }) => {
      const said = {
        id: `waits-${sequence}`,
        jobId: id,
        type: 'training_waiting' as const,
        data: {},
        createdAtMs: nowMs,
      };
      return jobs.noteWaiting(id, nth, { was, now }, isSaid ? said : null);
    },
  ),
  asked(
    'jobs.finish',
    6,
    fc.record({
      id: job,
      nth: attempt,
      at: ordinal,
      status: fc.constantFrom('succeeded', 'failed', 'cancelled'),
      made: fc.option(fc.tuple(model, step)),
    }),
    ({ jobs }, { id, nth, at, status, made }, { nowMs, sequence }) =>
      jobs.finish(id, nth, {
        status,
        errorMessage: status === 'succeeded' ? null : status,
        endedAtMs: nowMs,
        event: newEvent(id, at, sequence),
        checkpoint: made && newCheckpoint(...made, sequence),
      }),
  ),
  asked('jobs.requestCancel', 2, fc.tuple(job, ordinal), ({ jobs }, [id, at], { nowMs, sequence }) =>
    jobs.requestCancel(id, nowMs, newEvent(id, at, sequence)),
  ),
  asked(
    'jobs.list',
    1,
    fc.tuple(
      fc.record(
        { entity: fc.constantFrom(...ENTITIES), modelId: model, status: fc.constantFrom(...STATUSES) },
        { requiredKeys: ['entity'] },
      ),
      page(JOBS),
    ),
    ({ jobs }, [filter, at]) => jobs.list(filter, at),
  ),

  asked('events.append', 5, fc.tuple(job, ordinal), ({ events }, [id, at], { sequence }) =>
    events.append(newEvent(id, at, sequence)),
  ),
  asked('events.first', 1, fc.tuple(job, fc.nat({ max: 3 })), ({ events }, [id, count]) => events.first(id, count)),
  asked('events.list', 1, fc.tuple(job, page(['e5', 'e10', 'e15'])), ({ events }, [id, at]) => events.list(id, at)),

  asked('checkpoints.delete', 1, fc.tuple(model, fc.array(step)), ({ checkpoints }, [id, steps]) =>
    checkpoints.delete(id, steps),
  ),
  asked(
    'checkpoints.list',
    1,
    fc.tuple(model, page(['c0', 'c1', 'c10', 'c15']), fc.constantFrom('asc', 'desc')),
    ({ checkpoints }, [id, at, order]) => checkpoints.list(id, at, order),
  ),
  asked('checkpoints.mergeMetrics', 1, fc.nat(15), ({ checkpoints }, n, { sequence }) =>
    checkpoints.mergeMetrics(`c${n}`, { 'val/x': sequence }),
  ),

  asked('usage.add', 6, fc.array(usageEntry, { maxLength: 5 }), ({ usage }, entries) => usage.add(entries)),
  asked(
    'usage.list',
    3,
    fc.record({
      filter: fc.record(
        {
          entity: fc.constantFrom(...ENTITIES),
          keyId: fc.constantFrom('k', 'l'),
          project: fc.constantFrom('', 'p'),
          model: fc.constant('base'),
          from: fc.constantFrom(...DAYS),
          to: fc.constantFrom(...DAYS),
        },
        { requiredKeys: ['entity'] },
      ),
      after: fc.option(usageEntry.map(usageId), { freq: 2 }),
      limit: fc.integer({ min: 0, max: 4 }),
    }),
    ({ usage }, { filter, ...at }) => usage.list(filter, at),
  ),

  ...episodeOperations(MODELS, JOBS, entityOf),

  // The clock of these runs in hours, so that keys expire.
  asked('idempotency.begin', 2, fc.tuple(key, fc.constantFrom('x', 'y')), ({ idempotency }, [k, body], { nowMs }) =>
    idempotency.begin(k, body, `made at ${nowMs}`, nowMs * 100_000),
  ),
  asked('idempotency.complete', 1, key, ({ idempotency }, k) => idempotency.complete(k, 'answer')),
  asked('idempotency.release', 1, key, ({ idempotency }, k) => idempotency.release(k)),
  asked('idempotency.releaseAll', 1, fc.constant(null), ({ idempotency }) => idempotency.releaseAll()),
);
