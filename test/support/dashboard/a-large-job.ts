// A job of ten thousand trajectories and about a thousand gradient steps, one of its groups with long answers, through the real
// job runner. Only the numbers of the model are random, because computing them would take a night.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createId } from '#base/ids';
import { createRandom } from '#base/random';
import type { Trajectory, TrajectoryGroup } from '#domain/trajectory';
import type { TrainingEngine, TrainingRow } from '#engine/training-engine';
import { aCaller } from '../a-caller.ts';
import { ableTrainer, aJobRunner, noSampler } from '../a-job-runner.ts';
import { register } from '../api/registered-model.ts';
import type { TestServer } from '../api/test-server.ts';
import { idsOnly } from '../golden/rl-rows.ts';

const GROUP_SIZE = 64;
const SHORT_GROUPS = 156;
/** Tokens of an answer. */
const [LONG, SHORT] = [2_000, 180];
const ROW_LENGTH = 2_048;

const random = createRandom(17);
const encoder = { ...idsOnly, vocabSize: 480 };
/** Tokens of several letters, as in real text. */
const draw = (count: number) => Array.from({ length: count }, () => 300 + random.integer(150));
const logprobs = (count: number) => Float32Array.from({ length: count }, () => -3 * random.next() ** 2);

function trajectory(group: number, index: number, length: number): Trajectory {
  const content = `Tell me about ${group}.`;
  const sampled = {
    kind: 'sampled' as const,
    message: { role: 'assistant', content: `Story ${group}.${index}` },
    finishReason: 'stop',
    tokens: draw(length),
    logprobs: [...logprobs(length)],
    promptTokenIds: [1, 2, 3, group % 100],
  };
  const turns = [{ kind: 'message' as const, message: { role: 'user', content } }, sampled];
  return { histories: [{ tools: null, turns }], reward: random.integer(11) / 10, metrics: { length } };
}

const group = (at: number, length: number): TrajectoryGroup => ({
  trajectories: Array.from({ length: GROUP_SIZE }, (_, index) => trajectory(at, index, length)),
  exceptionCount: 0,
  metrics: {},
  notes: { metadata: { topic: at } },
});

const compute = (row: TrainingRow) => logprobs(row.targets.length);

const trainer: TrainingEngine = {
  limits: {
    contextLength: ROW_LENGTH,
    rowLengthMax: ROW_LENGTH,
    memory: { budgetBytes: 1e12, fixedBytes: 0, bytesPerToken: 1, bytesPerPair: 0 },
  },
  status: () => ({ ready: true, busy: false, sessionsMax: 1, restarts: 0, lastFailure: null }),
  close: async () => {},
  open: async () => ({
    rowsAtOnce: 1,
    logprobs: async (rows) => rows.map(compute),
    forwardBackward: async (rows) => rows.map((row) => ({ loss: random.next(), metrics: {}, logprobs: compute(row) })),
    optimStep: async () => ({ gradNorm: random.next() }),
    async save(directory) {
      await writeFile(join(directory, 'adapter_config.json'), '{}');
      await writeFile(join(directory, 'adapter_model.safetensors'), '');
    },
    close: async () => {},
  }),
};

export interface LargeJob {
  readonly modelId: string;
  readonly id: string;
  /** The group with the long answers. */
  readonly longGroup: number;
}

export async function runLargeJob(server: TestServer): Promise<LargeJob> {
  const { storage, blobs, services, jobEvents } = server;
  const modelId = await register(server, 'large');
  const groups = Array.from({ length: SHORT_GROUPS }, (_, at) => group(at, SHORT));
  const body = { groups: [...groups, group(SHORT_GROUPS, LONG)], config: { packedSequenceLength: ROW_LENGTH } };
  const caller = aCaller({ entity: 'default' });
  const { id } = await services.trainingJobs.submitRl(caller, { ...body, warnings: [] }, modelId, createId());
  const work = await mkdtemp(join(tmpdir(), 'whetstone-large-'));
  const runner = aJobRunner({
    ...{ storage, blobs, jobEvents, workDirectory: work, exclusive: true, saveEveryMs: 600_000 },
    trainerOf: () => ({
      engine: trainer,
      encoder,
      capabilities: ableTrainer,
      readElsewhere: null,
      ...noSampler,
    }),
  });
  await runner.start();
  const end = AbortSignal.timeout(600_000);
  for await (const _ of services.trainingJobs.followEvents(caller, id, null, end)) continue;
  await runner.stop();
  await rm(work, { recursive: true, force: true });
  const { status, errorMessage } = (await storage.jobs.find(id))!;
  if (status !== 'succeeded') throw new Error(`The large job ${status}: ${errorMessage}`);
  return { modelId, id, longGroup: SHORT_GROUPS };
}
