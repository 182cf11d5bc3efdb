// Load on a running server: hundreds of chat streams, each followed by the next, with training jobs submitted throughout; and the results:
// statuses, tokens, memory, and response times of requests that need no model. Used by load.ts and by test/system/load; does not know how the
// server was started.
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Client } from '#client/client';
import { startProbe, type Probed } from './probing.ts';
import { residentBytesOf } from './process-memory.ts';
import { quantile, quantiles, type Quantiles } from './quantiles.ts';
import { askStream, type StreamAnswer } from './stream.ts';

export interface LoadedServer {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
}

export interface LoadPlan {
  readonly seconds: number;
  /** Excluded from the growth of memory: caches fill, code is compiled. */
  readonly warmUpSeconds: number;
  readonly streams: number;
  readonly jobs: number;
  /** Run before the load, so that the sampler holds as many adapters as it ever will (64). */
  readonly jobsBefore: number;
  /** How long the API is probed without load, beforehand. */
  readonly idleSeconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly tokensPerSecond: number;
  /** HTTP statuses of chats and submissions. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Streams without [DONE] or with an error in them, and broken connections. */
  readonly broken: number;
  readonly chatMs: Quantiles;
  readonly jobs: { readonly submitted: number; readonly succeeded: number; readonly lastEndedSeconds: number };
  readonly memory: {
    /** Median of the last sixth after the warm-up divided by that of the first sixth, minus one. */
    readonly growth: number;
    readonly growthByProcess: Readonly<Record<string, number>>;
    /** Every ten seconds: MB by process. */
    readonly megabytes: readonly Readonly<Record<string, number>>[];
  };
  /** Without load, and under load. */
  readonly apiMs: { readonly idle: Probed; readonly loaded: Probed };
}

const PROJECT = 'load';
const MODEL = `wandb-artifact:///default/${PROJECT}/m`;
const MAX_TOKENS = 32;
const JOBS_DEADLINE_MS = 600_000;

export async function runLoad(server: LoadedServer, plan: LoadPlan): Promise<LoadResult> {
  const client = createClient({ baseUrl: server.url, apiKey: server.key });
  const model = await client.registerModel({ project: PROJECT, name: 'm', base_model: 'whetstone/starter' });
  const trajectory_groups = await sampleGroups(client);
  const job = { model_id: model.id, trajectory_groups };
  for (let i = 0; i < plan.jobsBefore; i++) {
    const { id } = await client.submitTrainingJob(job);
    await client.follow(id, { deadlineMs: JOBS_DEADLINE_MS });
  }

  const idleProbe = startProbe(server, 0);
  await delay(1000 * plan.idleSeconds);
  const idle = await idleProbe.stop();

  const startMs = performance.now();
  const elapsedSeconds = () => (performance.now() - startMs) / 1000;
  const goesOn = () => elapsedSeconds() < plan.seconds;
  const statuses: Record<string, number> = {};
  const count = (status: number) => (statuses[status] = (statuses[status] ?? 0) + 1);
  const chatMs: number[] = [];
  let tokens = 0;
  let broken = 0;

  const agent = new Agent({ keepAlive: true, maxSockets: plan.streams });
  async function chatOn(stream: number): Promise<void> {
    for (let turn = 0; goesOn(); turn++) {
      const startMs = performance.now();
      const answer = await chat(server, agent, stream, turn).catch(() => null);
      if (answer === null) {
        broken++;
        await delay(100);
        continue;
      }
      count(answer.status);
      chatMs.push(performance.now() - startMs);
      tokens += answer.tokens;
      if (answer.status === 200 && !answer.complete) broken++;
    }
  }

  async function submitAlong(): Promise<{ submitted: number; succeeded: number; lastEndedSeconds: number }> {
    const ids: string[] = [];
    for (let i = 0; i < plan.jobs; i++) {
      await delay(Math.max(0, (1000 * plan.seconds * i) / plan.jobs - (performance.now() - startMs)));
      try {
        ids.push((await client.submitTrainingJob(job)).id);
        count(200);
      } catch (error) {
        const { status } = error as { status?: number };
        if (status === undefined) broken++;
        else count(status);
      }
    }
    let succeeded = 0;
    for (const id of ids) {
      const { status } = await client.follow(id, { deadlineMs: JOBS_DEADLINE_MS });
      if (status === 'succeeded') succeeded++;
    }
    return { submitted: ids.length, succeeded, lastEndedSeconds: Math.round(elapsedSeconds()) };
  }

  const samples: MemorySample[] = [];
  async function watchMemory(): Promise<void> {
    for (; goesOn(); await delay(1_000))
      samples.push({ seconds: elapsedSeconds(), bytes: residentBytesOf(server.pid) });
  }

  const probe = startProbe(server, 100);
  const submitting = submitAlong();
  await Promise.all([watchMemory(), ...Array.from({ length: plan.streams }, (_, stream) => chatOn(stream))]);
  const seconds = elapsedSeconds();
  const loaded = await probe.stop();
  const jobs = await submitting;
  agent.destroy();
  return {
    requests: chatMs.length,
    tokensPerSecond: Math.round(tokens / seconds),
    statuses,
    broken,
    chatMs: quantiles(chatMs),
    jobs,
    memory: memoryOf(samples, plan),
    apiMs: { idle, loaded },
  };
}

export interface MemorySample {
  readonly seconds: number;
  readonly bytes: Readonly<Record<string, number>>;
}

export function memoryOf(
  samples: readonly MemorySample[],
  { seconds, warmUpSeconds }: Pick<LoadPlan, 'seconds' | 'warmUpSeconds'>,
): LoadResult['memory'] {
  const window = (seconds - warmUpSeconds) / 6;
  const median = (of: (bytes: MemorySample['bytes']) => number, from: number): number =>
    quantile(
      samples.filter((each) => each.seconds >= from && each.seconds < from + window).map(({ bytes }) => of(bytes)),
      0.5,
    );
  const growth = (of: (bytes: MemorySample['bytes']) => number): number =>
    Math.round(1000 * (median(of, seconds - window) / median(of, warmUpSeconds) - 1)) / 1000;
  const names = Object.keys(samples.at(-1)?.bytes ?? {});
  return {
    growth: growth((bytes) => Object.values(bytes).reduce((sum, each) => sum + each, 0)),
    growthByProcess: Object.fromEntries(names.map((name) => [name, growth((bytes) => bytes[name] ?? 0)])),
    megabytes: samples
      .filter((_, i) => i % 10 === 0)
      .map(({ bytes }) =>
        Object.fromEntries(Object.entries(bytes).map(([name, each]) => [name, Math.round(each / 1e6)])),
      ),
  };
}

/** Rewards differ inside each group, so that every job has something to learn. */
function sampleGroups(client: Client) {
  return Promise.all(
    [1, 2].map(async (seed) => {
      const messages = [{ role: 'user', content: `What is ${10 + seed} + 20?` }];
      const { choices } = await client.chat({ model: MODEL, messages, n: 4, temperature: 1, seed, max_tokens: 16 });
      return {
        trajectories: choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i % 2 })),
      };
    }),
  );
}

/** Every second request uses the model in training, whose newest checkpoint answers. */
const chat = (server: LoadedServer, agent: Agent, stream: number, turn: number): Promise<StreamAnswer> =>
  askStream(server, agent, {
    ...(stream % 2 === 0 ? {} : { model: MODEL }),
    messages: [{ role: 'user', content: `What is ${stream % 60} + ${turn % 39}?` }],
    max_tokens: MAX_TOKENS,
    ignore_eos: true,
    temperature: 1,
    seed: stream * 10_000 + turn,
  });
