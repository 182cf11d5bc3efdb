// One simulated world: servers that are kept alive, the ground under them, and the outcome of jobs. Decides what is there and how it is read;
// clients.ts decides what is asked, disturber.ts what dies.
import { createId } from '#base/ids';
import { jobRecordBlob } from '#domain/blob-names';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { Readable } from 'node:stream';
import { aCaller } from '../../support/a-caller.ts';
import type { JobData } from '../../support/crash/job-bodies.ts';
import { auditRows, Violation, type JobOutcome } from './audit.ts';
import { installFakeTime } from './fake-time.ts';
import { durableFile, resetFiles } from './faulty-files.ts';
import { KINDS, type Kind } from './kinds.ts';
import { createScheduler, inProcess, type Process, type Scheduler } from './scheduler.ts';
import { ADAPTER_FILE, writeFreshAdapter } from './scripted-trainer.ts';
import { BASE_MODEL, startServer, type Ground, type Server } from './server.ts';
import type { SharedDatabase } from './shared-database.ts';

export const OWNER = aCaller();
const START_MS = 1_700_000_000_000;
const CHECKPOINT_FILES = ['adapter_config.json', ADAPTER_FILE, 'checksums.json'];
const RESTART_MS_MAX = 8_000;
/** The server that has lost a job may need so long to notice: a renewal of its lease, and what it was doing. */
const NOTICE_MS = 25_000;

export interface WorldOptions {
  readonly seed: number;
  readonly servers: number;
  /** One server with files, or several with a bucket and a database for all. */
  readonly sharing: boolean;
  readonly saveEveryMs: number;
  readonly verbMsMax: number;
  readonly models: number;
  /** The kinds of jobs whose data sets are there. */
  readonly kinds: readonly Kind[];
}

export interface Slot {
  server: Server | null;
}

export interface World {
  readonly scheduler: Scheduler;
  readonly database: SharedDatabase;
  readonly slots: readonly Slot[];
  readonly models: readonly string[];
  /** Never dies: clients, and what watches. */
  readonly outside: Process;
  readonly server: () => Server | null;
  /** The first violation. */
  fail(error: unknown): void;
  runUntil(isDone: () => boolean, limitMs: number): Promise<void>;
  outcomeOf(jobId: string): Promise<JobOutcome>;
  close(): void;
}

export async function createWorld(database: SharedDatabase, options: WorldOptions): Promise<World> {
  const scheduler = createScheduler(options.seed, START_MS);
  const restore = installFakeTime(scheduler);
  resetFiles();
  await database.clear();
  const bucket = options.sharing ? createMemoryBlobs() : null;
  let isClosed = false;
  let failure: { error: unknown } | null = null;
  const fail = (error: unknown) => void (failure ??= { error });
  const lost = new Map<string, { attempt: number; sinceMs: number }>();

  const ground: Ground = {
    scheduler,
    database,
    bucket,
    saveEveryMs: options.saveEveryMs,
    verbMsMax: options.verbMsMax,
    onWork({ process }, jobId, attempt, what) {
      const taken = lost.get(jobId);
      if (!taken || taken.attempt <= attempt) return;
      const awakeMs = scheduler.now() - Math.max(taken.sinceMs, process.frozenUntilMs);
      if (awakeMs > NOTICE_MS)
        fail(
          new Violation(
            `${process.name} goes on with ${what} ${Math.round(awakeMs)} ms after attempt ${taken.attempt} took its job`,
          ),
        );
    },
  };

  /** Checkpoints and jobs whose files were found durable. */
  const visible = new Set<string>();
  async function checkFiles(id: string, what: string, names: readonly string[]): Promise<void> {
    if (visible.has(id)) return;
    visible.add(id);
    for (const name of names) {
      if (((await readDurable(name))?.length ?? 0) === 0)
        throw new Violation(`${what} is visible before ${name} is durable`);
    }
  }
  const readDurable = async (name: string) => (bucket ? bucket.find(name) : durableFile(`/data/blobs/${name}`));

  async function audit(): Promise<void> {
    await auditRows(database);
    for (const { id, blob_prefix } of await database.rows<{ id: string; blob_prefix: string }>(
      'select id, blob_prefix from checkpoints',
    ))
      await checkFiles(
        id,
        'a checkpoint',
        CHECKPOINT_FILES.map((file) => `${blob_prefix}/${file}`),
      );
    for (const { id, body_blob, attempt } of await database.rows<{ id: string; body_blob: string; attempt: number }>(
      'select id, body_blob, attempt from training_jobs',
    )) {
      await checkFiles(id, 'a job', [body_blob]);
      if (lost.get(id)?.attempt !== attempt) lost.set(id, { attempt, sinceMs: scheduler.now() });
    }
  }
  database.onCommit = () => audit().catch(fail);

  const outside = scheduler.spawn('outside');
  const models = Array.from({ length: options.models }, () => createId());
  const slots: Slot[] = Array.from({ length: options.servers }, () => ({ server: null }));

  async function runUntil(isDone: () => boolean, limitMs: number): Promise<void> {
    await scheduler.runUntil(() => failure !== null || isDone(), limitMs);
    if (failure) throw failure.error;
  }

  /** Starts the server of a slot again and again. */
  async function keepAlive(slot: Slot, name: string): Promise<void> {
    for (let life = 1; ; life++) {
      const process = scheduler.spawn(`${name}.${life}`);
      const died = new Promise<void>((resolve) => process.atDeath.push(resolve));
      try {
        slot.server = await scheduler.call(process, () => startServer(ground, process));
        await died;
      } catch {
        scheduler.kill(process); // it could not start
      }
      slot.server = null;
      await scheduler.wait('restart', scheduler.random.next() * RESTART_MS_MAX, () => undefined);
    }
  }

  const world: World = {
    scheduler,
    database,
    slots,
    models,
    outside,
    server() {
      const alive = slots.flatMap(({ server }) => (server?.process.isAlive ? [server] : []));
      return alive.length === 0 ? null : alive[scheduler.random.integer(alive.length)]!;
    },
    fail,
    runUntil,
    async outcomeOf(jobId) {
      const [job] = await database.rows<Record<string, string | number | null>>(
        'select * from training_jobs where id = ?',
        jobId,
      );
      if (!job) throw new Violation(`job ${jobId} was accepted, and is not there`);
      const events = await database.rows<{ type: string; data: string }>(
        'select type, data from training_events where job_id = ? and part = 0 order by ordinal',
        jobId,
      );
      const [checkpoint] = await database.rows<{ metrics: string; blob_prefix: string }>(
        'select metrics, blob_prefix from checkpoints where model_id = ? and step = ?',
        job['model_id'],
        job['step'],
      );
      const read = async (name: string) => {
        const content = await readDurable(name);
        return content ? Buffer.from(content).toString('base64') : null;
      };
      return {
        status: job['status'] as JobOutcome['status'],
        errorMessage: job['error_message'] as string | null,
        step: job['step'] as number | null,
        events: events.map(({ type, data }) => ({ type, data: timeless(JSON.parse(data) as Record<string, unknown>) })),
        metrics: checkpoint ? timeless(JSON.parse(checkpoint.metrics) as Record<string, unknown>) : null,
        adapter: checkpoint ? await read(`${checkpoint.blob_prefix}/${ADAPTER_FILE}`) : null,
        record: await read(jobRecordBlob(jobId)),
      };
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      database.onCommit = async () => {};
      scheduler.end();
      restore();
    },
  };

  let isReady = false;
  inProcess(outside, () => {
    prepare(ground, scheduler.spawn('setup'), models, options.kinds).then(() => (isReady = true), fail);
  });
  await runUntil(() => isReady, 600_000);
  inProcess(outside, () => slots.forEach((slot, i) => void keepAlive(slot, `server${i + 1}`)));
  return world;
}

/** Durations depend on the history. */
function timeless(data: Record<string, unknown>): Record<string, unknown> {
  const { tokens_per_second: _, ['sft/tokens_per_second']: __, ...rest } = data;
  return rest;
}

/** Creates the models, and uploads the data sets of these kinds of jobs. */
async function prepare(
  ground: Ground,
  process: Process,
  models: readonly string[],
  kinds: readonly Kind[],
): Promise<void> {
  await ground.scheduler.call(process, async () => {
    const { storage, blobs, artifacts } = await startServer(ground, process, false);
    await writeFreshAdapter('/work/fresh');
    for (const [i, modelId] of models.entries()) {
      const blobPrefix = `checkpoints/${modelId}/0`;
      await blobs.putDirectory(blobPrefix, '/work/fresh');
      const createdAtMs = START_MS;
      const named = { id: modelId, entity: OWNER.entity, project: 'p', name: `m${i}`, baseModel: BASE_MODEL };
      await storage.models.create(
        { ...named, runId: null, createdAtMs },
        { id: createId(), modelId, step: 0, metrics: {}, blobPrefix, fresh: true, createdAtMs },
      );
    }
    for (const kind of new Set(kinds)) {
      const rows = rowsOf(KINDS[kind]);
      if (!rows) continue;
      const name = { entity: OWNER.entity, project: 'p', name: kind };
      const content = Readable.from([Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'))]);
      const { sha256 } = await artifacts.upload(OWNER, name, { content, declaredBytes: null, sha256: null });
      const files = [{ path: 'train.jsonl', sha256 }];
      await artifacts.commit(OWNER, name, { type: 'dataset', metadata: {}, aliases: [], files });
    }
  });
  ground.scheduler.kill(process);
}

function rowsOf(body: JobData): readonly unknown[] | null {
  if ('groups' in body) return null;
  return 'pairs' in body ? body.pairs : body.rows;
}

/** Through one server; the job exists once under this id, however often it is asked for. */
export async function submitJob({ jobs }: Server, modelId: string, kind: Kind, id: string): Promise<void> {
  const body: JobData = KINDS[kind];
  if ('groups' in body) return void (await jobs.submitRl(OWNER, body, modelId, id));
  const data = { entity: OWNER.entity, project: 'p', name: kind, version: null };
  const request = { modelId, data, warnings: [] };
  if ('pairs' in body) await jobs.submitDpo(OWNER, { ...request, config: body.config }, id);
  else await jobs.submitSft(OWNER, { ...request, config: body.config }, id);
}
