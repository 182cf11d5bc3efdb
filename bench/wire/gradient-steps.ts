// What a gradient step takes of processors outside its engine: in the server when the engine is its child, and in the server and in
// the worker's process that dials when it is behind a worker. The engine is the embedded trainer.
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { silentLog } from '../../src/base/log.ts';
import { trainingMemoryShare } from '../../src/engine/onnx/machine-memory.ts';
import { openTrainingEngine } from '../../src/engine/onnx/open-engines.ts';
import type { TrainingEngine, TrainingSession } from '../../src/engine/training-engine.ts';
import { crossEntropyLoss } from '../../src/training/losses.ts';
import { processorMs } from '../../scripts/processor-ms.ts';
import { plainRow } from '../../test/support/learning/tiny-decoders.ts';
import { openWorkerLab } from '../../test/support/workers/worker-lab.ts';
import { makeModelDirectory } from '../model-directory.ts';
import { quantile } from '../quantiles.ts';
import { SHAPES } from '../shapes.ts';
import { startWorker, type StartedWorker } from './start-worker.ts';

const ROW = 512;
const STEPS = 4;
const ROUNDS = 4;
const ADAMW = { learningRate: 1e-4, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 };

/** Of one step, in ms. */
interface Cost {
  readonly clock: number;
  readonly server: number;
  readonly worker: number;
}

async function openSession(engine: TrainingEngine): Promise<TrainingSession> {
  const options = { from: null, lora: { rank: 8, alpha: 16, seed: 1 }, resetOptimizer: false, headTokensMax: null };
  return engine.open(options, new AbortController().signal);
}

async function measure(session: TrainingSession, worker: StartedWorker): Promise<Cost> {
  const tokens = Array.from({ length: ROW }, (_, i) => (i * 7) % 250);
  const row = plainRow(tokens, { weights: new Array<number>(ROW - 1).fill(1) });
  const seen = async () => [performance.now(), processorMs(), await worker.processorMs()] as const;
  const before = await seen();
  for (let step = 0; step < STEPS; step++) {
    await session.forwardBackward([row], crossEntropyLoss);
    await session.optimStep(ADAMW);
  }
  const after = await seen();
  const [clock, server, ofWorker] = after.map((ms, i) => (ms - before[i]!) / STEPS) as [number, number, number];
  return { clock, server, worker: ofWorker };
}

export async function gradientSteps(say: (line: string) => void): Promise<void> {
  await ofModel('the starter', 'models/starter', say);
  const large = await makeModelDirectory(SHAPES['135m']!);
  await ofModel('135M parameters', large, say);
  await rm(large, { recursive: true });
}

async function ofModel(name: string, modelDirectory: string, say: (line: string) => void): Promise<void> {
  const threads = availableParallelism();
  const lab = await openWorkerLab(modelDirectory);
  const memoryBytes = trainingMemoryShare(1);
  const child = await openTrainingEngine({ modelDirectory, threads, memoryBytes, log: silentLog });
  const worker = await startWorker(lab, modelDirectory, { kind: 'trainer', threads });
  const [here, there]: [Cost[], Cost[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [engine, costs] of [
      [child, here],
      [lab.training, there],
    ] as const) {
      const session = await openSession(engine);
      const cost = await measure(session, worker);
      if (round > 0) costs.push(cost); // the first compiles
      await session.close();
    }
  }
  await worker.stop();
  await child.close();
  await lab.close();
  report(name, here, there, say);
}

function report(name: string, here: readonly Cost[], there: readonly Cost[], say: (line: string) => void): void {
  const median = (costs: readonly Cost[], of: keyof Cost) =>
    quantile(
      costs.map((cost) => cost[of]),
      0.5,
    );
  const inMs = (ms: number) => `${ms.toFixed(2)} ms`;
  const [asChild, server, dialing] = [median(here, 'server'), median(there, 'server'), median(there, 'worker')];
  const step = median(here, 'clock');
  const added = server + dialing - asChild;
  say(`A gradient step of ${name}, a row of ${ROW} tokens: ${step.toFixed(0)} ms by the clock as a child.`);
  say(`Processor time outside the engine, medians of ${ROUNDS} rounds of ${STEPS} steps:`);
  say(`  child  ${inMs(asChild)} (server; the worker meanwhile, idle, ${inMs(median(here, 'worker'))})`);
  say(`  worker ${inMs(server + dialing)} (server ${inMs(server)}, worker ${inMs(dialing)})`);
  say(`  a worker adds ${inMs(added)}, ${((100 * added) / step).toFixed(2)} % of the step`);
}
