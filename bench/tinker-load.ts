// Training and sampling clients of the Tinker protocol, all at once, on a server whose processes are killed meanwhile; and the results. All
// training clients do the same from the same seed, so that a lost or repeated step shows in a client's losses, and in its adapter, which
// must have the same bytes as after an undisturbed run. Used by tinker.ts and by test/service/clients; does not know how the server is started or
// killed, nor how a training client speaks to it.
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, shuffle } from '#base/random';
import type { Client } from '#client/client';
import { digestOfRun } from '../test/support/clients/run-adapter.ts';
import { openTinkerClient, type TinkerClient, type WeightedDatum } from '../test/support/clients/tinker-client.ts';
import { memoryOf, type LoadResult, type MemorySample } from './load-run.ts';
import { anonymousBytesOf } from './process-memory.ts';

export interface TinkerLoadPlan {
  /** When a training client ends, after at least two steps. */
  readonly until: { readonly seconds: number } | { readonly stepsEach: number };
  readonly trainers: number;
  readonly samplers: number;
  readonly kills: number;
  /** Decides which process is killed when. */
  readonly seed: number;
  /** The fraction of the run in which processes are killed: later kills would hide how memory grows. */
  readonly killsUntil: number;
}

type Victim = 'server' | 'training' | 'inference';

export interface TinkerLoadResult {
  /** Of all training clients; each sends every second step twice at once. */
  readonly steps: number;
  readonly samples: number;
  readonly kills: Readonly<Record<Victim, number>>;
  /** Steps for which two clients read different losses. */
  readonly lossesApart: number;
  /** Training clients whose adapter differs from that of as many steps without kills. */
  readonly adaptersApart: number;
  /** Prompts that got two different answers from the same weights and seed. */
  readonly samplesApart: number;
  /** The slowest answer, including repeated requests. */
  readonly slowestSeconds: { readonly training: number; readonly sampling: number };
  /** Anonymous memory: mapped files belong to the system. Growth is measured after the last kill. */
  readonly memory: LoadResult['memory'];
}

export interface KilledServer {
  readonly url: string;
  readonly apiKey: string;
  readonly client: Client;
  pid(): number;
  /** False: the process did not exist. */
  kill(victim: Victim): Promise<boolean>;
  start(): Promise<void>;
}

/** A training client on a run of its own, of rank `RANK` and seed `SEED`. */
export interface LoadTrainer {
  /** A forward_backward and an optim_step; returns the loss. */
  step(batch: readonly WeightedDatum[], count: number): Promise<number>;
  /** Saves the state; returns the id of the run. */
  end(): Promise<string>;
}
type OpenTrainer = () => Promise<LoadTrainer> | LoadTrainer;

export const LEARNING_RATE = 1e-3;
export const [RANK, SEED] = [8, 1];
const PROMPT = Array.from({ length: 24 }, (_, i) => 40 + i);
const MAX_TOKENS = 16;
const SAMPLE_SEEDS = 4;
/** Of each training client, however slow the machine. */
const STEPS_MIN = 2;
const VICTIMS: readonly Victim[] = ['training', 'inference', 'server'];
/** How long to wait until the process to kill exists: it may just have been killed. */
const VICTIM_MS = 120_000;

/** `others`: training clients in addition to those of this file. */
export async function runTinkerLoad(
  server: KilledServer,
  plan: TinkerLoadPlan,
  others: readonly OpenTrainer[] = [],
): Promise<TinkerLoadResult> {
  const { until } = plan;
  const startMs = performance.now();
  const elapsedSeconds = () => (performance.now() - startMs) / 1000;
  const lossesOf: number[][] = [];
  const adapters: { readonly runId: string; readonly steps: number }[] = [];
  const answers = new Map<string, Set<string>>();
  const slowest = { training: 0, sampling: 0 };
  const kills: Record<Victim, number> = { server: 0, training: 0, inference: 0 };
  let [samples, trainersLeft] = [0, plan.trainers + others.length];

  /** From 0 to 1. */
  function progress(): number {
    if ('seconds' in until) return elapsedSeconds() / until.seconds;
    const steps = lossesOf.reduce((sum, { length }) => sum + length, 0);
    return steps / (until.stepsEach * (plan.trainers + others.length));
  }

  async function timed<T>(kind: keyof typeof slowest, answer: Promise<T>): Promise<T> {
    const fromMs = performance.now();
    const result = await answer;
    slowest[kind] = Math.max(slowest[kind], (performance.now() - fromMs) / 1000);
    return result;
  }

  async function trainOn(open: OpenTrainer): Promise<void> {
    const losses: number[] = [];
    lossesOf.push(losses);
    const trainer = await open();
    const goesOn = () => ('seconds' in until ? progress() < 1 : losses.length < until.stepsEach);
    while (losses.length < STEPS_MIN || goesOn())
      losses.push(await timed('training', trainer.step(batchOf(losses.length), losses.length)));
    adapters.push({ runId: await timed('training', trainer.end()), steps: losses.length });
    trainersLeft--;
  }

  async function sampleOn(client: TinkerClient, kind: string, sampler: Promise<string>, first: number): Promise<void> {
    const id = await sampler;
    for (let count = first; trainersLeft > 0; count++) {
      const sampleSeed = count % SAMPLE_SEEDS;
      const answer = await timed('sampling', client.sample(id, PROMPT, MAX_TOKENS, sampleSeed));
      const key = `${kind}/${sampleSeed}`;
      answers.set(key, (answers.get(key) ?? new Set()).add(answer));
      samples++;
    }
  }

  /** Half of them sample from the base model, half from weights of their own run. */
  async function startSamplers(): Promise<void> {
    const client = await openTinkerClient(server.url, server.apiKey);
    const trained = client.train(RANK, SEED + 1).then((run) => run.saveForSampler());
    const base = client.openSampler();
    const isBase = (i: number) => i % 2 === 0;
    await Promise.all(
      Array.from({ length: plan.samplers }, (_, i) =>
        sampleOn(client, isBase(i) ? 'base' : 'trained', isBase(i) ? base : trained, i),
      ),
    );
  }

  async function killAlong(): Promise<void> {
    for (const { at, victim } of drawKills(plan)) {
      while (progress() < at && trainersLeft > 0) await delay(50);
      const giveUpMs = performance.now() + VICTIM_MS;
      while (!(await server.kill(victim))) {
        if (performance.now() > giveUpMs) throw new Error(`there was no ${victim} to kill for ${VICTIM_MS / 1000} s`);
        await delay(100);
      }
      kills[victim]++;
      if (victim === 'server') await server.start();
    }
  }

  const memory: MemorySample[] = [];
  async function watchMemory(): Promise<void> {
    for (; trainersLeft > 0; await delay(1_000))
      memory.push({ seconds: elapsedSeconds(), bytes: anonymousBytesOf(server.pid()) });
  }

  const opens = [...Array.from({ length: plan.trainers }, () => () => openTrainer(server)), ...others];
  try {
    await Promise.all([...opens.map(trainOn), startSamplers(), killAlong(), watchMemory()]);
  } finally {
    trainersLeft = 0; // if one has failed, the others end as well
  }
  const seconds = 'seconds' in until ? until.seconds : elapsedSeconds();

  const lossesAt = (step: number) =>
    new Set(lossesOf.filter(({ length }) => step < length).map((losses) => losses[step]));
  const longest = Math.max(...lossesOf.map(({ length }) => length));
  const undisturbed = await replay(server, new Set(adapters.map(({ steps }) => steps)));
  const digests = await Promise.all(adapters.map(({ runId }) => digestOfRun(server.client, runId, 1)));
  return {
    steps: lossesOf.reduce((sum, { length }) => sum + length, 0),
    samples,
    kills,
    lossesApart: Array.from({ length: longest }, (_, step) => lossesAt(step)).filter(({ size }) => size > 1).length,
    adaptersApart: adapters.filter(({ steps }, i) => digests[i] !== undisturbed.get(steps)).length,
    samplesApart: [...answers.values()].filter(({ size }) => size > 1).length,
    slowestSeconds: { training: Math.round(slowest.training), sampling: Math.round(slowest.sampling) },
    memory: memoryOf(memory, { seconds, warmUpSeconds: seconds * plan.killsUntil }),
  };
}

/** Every process is killed equally often, in an order and at times drawn from the seed. */
function drawKills({ kills, seed, killsUntil }: TinkerLoadPlan): { readonly at: number; readonly victim: Victim }[] {
  const random = createRandom(seed);
  const victims = shuffle(
    Array.from({ length: kills }, (_, i) => VICTIMS[i % VICTIMS.length]!),
    random,
  );
  const places = victims.map(() => random.next() * killsUntil).sort((a, b) => a - b);
  return victims.map((victim, i) => ({ victim, at: places[i]! }));
}

async function openTrainer(server: KilledServer): Promise<LoadTrainer> {
  const client = await openTinkerClient(server.url, server.apiKey);
  const run = await client.train(RANK, SEED);
  return {
    async step(batch, count) {
      const loss = run.forwardBackward(batch);
      const [value] = await Promise.all([loss, run.optimStep({ learning_rate: LEARNING_RATE }, 1 + (count % 2))]);
      return value;
    },
    async end() {
      await run.saveState('end');
      return run.id;
    },
  };
}

/** The same on a run that has the server to itself: digests of its adapter by step. */
async function replay(server: KilledServer, counts: ReadonlySet<number>): Promise<ReadonlyMap<number, string>> {
  const run = await (await openTinkerClient(server.url, server.apiKey)).train(RANK, SEED);
  const digests = new Map<number, string>();
  for (let steps = 0; steps < Math.max(...counts);) {
    await run.forwardBackward(batchOf(steps));
    await run.optimStep({ learning_rate: LEARNING_RATE });
    if (!counts.has(++steps)) continue;
    await run.saveState(`after-${steps}`);
    digests.set(steps, await digestOfRun(server.client, run.id, digests.size + 1));
  }
  return digests;
}

function batchOf(step: number): WeightedDatum[] {
  return [0, 1].map((k) => {
    const tokens = Array.from({ length: 32 }, (_, i) => 40 + ((7 * step + 3 * k + i) % 60));
    return { tokens, targets: tokens.map((token) => token + 1), weights: tokens.map(() => 1 / 32) };
  });
}
