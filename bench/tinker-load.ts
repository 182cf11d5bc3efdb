// Training and sampling clients of the Tinker protocol at once on a server whose processes are killed along the way; and what came of
// it. All training clients do the same from the same seed, so that a step which one of them lost or made twice shows in its losses.
// Used by tinker.ts and by test/clients; knows nothing of how the server is started or killed.
import { setTimeout as delay } from 'node:timers/promises';
import { openTinkerClient, type TinkerClient, type WeightedDatum } from '../test/clients/tinker-client.ts';
import { memoryOf, type LoadResult, type MemorySample } from './load-run.ts';
import { residentBytesOf } from './process-memory.ts';

export interface TinkerLoadPlan {
  readonly seconds: number;
  readonly trainers: number;
  readonly samplers: number;
  /** In order, at equal distances of the first half: what is killed in the second would hide how memory grows. */
  readonly kills: readonly ('server' | 'training' | 'inference')[];
}

export interface TinkerLoadResult {
  /** Of all training clients. */
  readonly steps: number;
  readonly samples: number;
  /** Steps whose loss one client was told otherwise than another. */
  readonly disagreements: number;
  readonly kills: number;
  /** Its growth is that of the last third. */
  readonly memory: LoadResult['memory'];
}

export interface KilledServer {
  readonly url: string;
  readonly apiKey: string;
  pid(): number;
  /** False: it was not there. */
  kill(victim: TinkerLoadPlan['kills'][number]): Promise<boolean>;
  start(): Promise<void>;
}

const ADAM = { learning_rate: 1e-3 };
const PROMPT = Array.from({ length: 24 }, (_, i) => 40 + i);
const MAX_TOKENS = 16;
/** Of each training client, however slow the machine. */
const STEPS_MIN = 2;

export async function runTinkerLoad(server: KilledServer, plan: TinkerLoadPlan): Promise<TinkerLoadResult> {
  const startMs = performance.now();
  const elapsedSeconds = () => (performance.now() - startMs) / 1000;
  const goesOn = () => elapsedSeconds() < plan.seconds;
  const lossesOf: number[][] = [];
  let samples = 0;
  let kills = 0;

  async function trainOn(): Promise<void> {
    const client = await openTinkerClient(server.url, server.apiKey);
    const run = await client.train(8, 1);
    const losses: number[] = [];
    lossesOf.push(losses);
    while (goesOn() || losses.length < STEPS_MIN) {
      const loss = run.forwardBackward(batchOf(losses.length));
      const [told] = await Promise.all([loss, run.optimStep(ADAM)]);
      losses.push(told);
    }
  }

  async function sampleOn(client: TinkerClient, sampler: Promise<string>): Promise<void> {
    const id = await sampler;
    do {
      await client.sample(id, PROMPT, MAX_TOKENS);
      samples++;
    } while (goesOn());
  }

  /** Half of them sample from the base model, half from weights of a run of their own. */
  async function startSamplers(): Promise<void> {
    const client = await openTinkerClient(server.url, server.apiKey);
    const trained = client.train(8, 2).then((run) => run.saveForSampler());
    const base = client.openSampler();
    await Promise.all(Array.from({ length: plan.samplers }, (_, i) => sampleOn(client, i % 2 === 0 ? base : trained)));
  }

  async function killAlong(): Promise<void> {
    for (const [i, victim] of plan.kills.entries()) {
      const atSeconds = (plan.seconds / 2) * ((i + 1) / (plan.kills.length + 1));
      await delay(Math.max(0, 1000 * (atSeconds - elapsedSeconds())));
      if (await server.kill(victim)) kills++;
      if (victim === 'server') await server.start();
    }
  }

  const memory: MemorySample[] = [];
  async function watchMemory(): Promise<void> {
    for (; goesOn(); await delay(1_000))
      memory.push({ seconds: elapsedSeconds(), bytes: residentBytesOf(server.pid()) });
  }

  await Promise.all([...Array.from({ length: plan.trainers }, trainOn), startSamplers(), killAlong(), watchMemory()]);
  const longest = Math.max(...lossesOf.map(({ length }) => length));
  const told = (step: number) => new Set(lossesOf.filter(({ length }) => step < length).map((losses) => losses[step]));
  return {
    steps: lossesOf.reduce((sum, { length }) => sum + length, 0),
    samples,
    disagreements: Array.from({ length: longest }, (_, step) => told(step)).filter(({ size }) => size > 1).length,
    kills,
    memory: memoryOf(memory, { seconds: plan.seconds, warmUpSeconds: (plan.seconds * 2) / 3 }),
  };
}

function batchOf(step: number): WeightedDatum[] {
  return [0, 1].map((k) => {
    const tokens = Array.from({ length: 32 }, (_, i) => 40 + ((7 * step + 3 * k + i) % 60));
    return { tokens, targets: tokens.map((token) => token + 1), weights: tokens.map(() => 1 / 32) };
  });
}
