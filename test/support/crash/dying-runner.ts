// Runs a job on a job runner that dies when a test says so, and returns the result of the job.
import { join } from 'node:path';
import { createId } from '#base/ids';
import { silentLog, type Log } from '#base/log';
import { jobRecordBlob, progressPointerBlob } from '#domain/blob-names';
import type { TrainingEvent } from '#domain/training-job';
import type { TrainingEngine } from '#engine/training-engine';
import { ableTrainer, aJobRunner, noSampler } from '../a-job-runner.ts';
import { encoder } from '../training/rollouts.ts';
import { type FatalRow, createKillSwitch, dyingAt, failingOnce } from './dying.ts';
import type { JobData } from './job-bodies.ts';
import { historyOf, OWNER, submit, type JobLab, type World } from './job-lab.ts';

const DEADLINE_MS = 20_000;
const STAYS = ['body.jsonl', 'record.bin'];

export interface RunOptions {
  readonly lastCall?: number;
  readonly failAt?: number | null;
  readonly fatal?: FatalRow | null;
  /** The longest row of the trainer. */
  readonly rowLengthMax?: number;
  readonly log?: Log;
}

/** Runs until the job has ended or the switch kills everything. Closes sessions that a dead runner left open. */
export async function runUntilEnd(
  lab: JobLab,
  world: World,
  jobId: string,
  { lastCall = Infinity, failAt = null, fatal = null, rowLengthMax, log = silentLog }: RunOptions = {},
) {
  const kill = createKillSwitch(lastCall);
  const open: { close(): Promise<void> }[] = [];
  const tracked: TrainingEngine = {
    limits: { ...lab.engine.limits, ...(rowLengthMax === undefined ? {} : { rowLengthMax }) },
    status: () => lab.engine.status(),
    close: () => lab.engine.close(),
    async open(options, signal) {
      const session = await lab.engine.open(options, signal);
      open.push(session);
      if (failAt !== null) return failingOnce(session, failures);
      return fatal === null ? session : dyingAt(session, fatal, () => ++deaths);
    },
  };
  const failures = { verbsLeft: failAt ?? Infinity };
  let deaths = 0;
  const runner = aJobRunner({
    storage: kill.wrap(world.storage),
    blobs: kill.wrap(world.blobs),
    jobEvents: world.jobEvents,
    workDirectory: join(lab.work, createId()),
    exclusive: true,
    saveEveryMs: 0,
    log,
    trainerOf: () => ({
      engine: kill.wrap(tracked),
      encoder,
      capabilities: ableTrainer,
      readElsewhere: null,
      ...noSampler,
    }),
  });
  await runner.start().catch(() => undefined);
  const ended = (async () => {
    for await (const _ of world.jobs.followEvents(OWNER, jobId, null, AbortSignal.timeout(DEADLINE_MS)));
  })();
  await Promise.race([ended, kill.died]);
  await runner.stop();
  for (const session of open) await session.close().catch(() => undefined);
  return { calls: kill.calls(), deaths };
}

export async function eventsOf({ jobs }: World, jobId: string) {
  const { rows } = await jobs.listEvents(OWNER, jobId, { after: null, limit: 100 });
  const timeless = { tokens_per_second: null, 'sft/tokens_per_second': null };
  return rows.map(({ type, data }: TrainingEvent) => ({ type, data: { ...data, ...timeless } }));
}

export async function outcome(world: World, jobId: string) {
  const { storage, blobs, modelId, jobs } = world;
  const job = await jobs.get(OWNER, jobId);
  const checkpoint = await storage.checkpoints.findLatest(modelId);
  const adapter = await blobs.find(`${checkpoint!.blobPrefix}/adapter_model.safetensors`);
  return {
    status: job.status,
    errorMessage: job.errorMessage,
    skipped: job.skipped,
    step: checkpoint!.step,
    metrics: { ...checkpoint!.metrics, 'sft/tokens_per_second': null },
    events: await eventsOf(world, jobId),
    history: await historyOf(world),
    adapter: Buffer.from(adapter!).toString('base64'),
    record: Buffer.from((await blobs.find(jobRecordBlob(jobId))) ?? []).toString('base64'),
    leftOver: (await blobs.list(`jobs/${jobId}`)).filter(({ name }) => !STAYS.includes(name.split('/').at(-1)!)).length,
  };
}

export async function undisturbed(lab: JobLab, body: JobData, options: RunOptions = {}) {
  const world = await lab.createWorld();
  const { id } = await submit(world, body);
  const { calls } = await runUntilEnd(lab, world, id, options);
  return { calls, expected: await outcome(world, id) };
}

/** After its last state was saved, and before it ended. */
export async function killedLate(
  lab: JobLab,
  body: JobData,
  calls: number,
  options: RunOptions,
): Promise<{ world: World; id: string }> {
  for (let lastCall = calls - 1; ; lastCall--) {
    const world = await lab.createWorld();
    const { id } = await submit(world, body);
    await runUntilEnd(lab, world, id, { ...options, lastCall });
    const { status } = await world.jobs.get(OWNER, id);
    if (status === 'running' && (await world.blobs.find(progressPointerBlob(id)))) return { world, id };
  }
}
