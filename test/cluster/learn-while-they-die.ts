// What every cluster must hold: a model learns while workers, a node and the server are killed. Each job ends as succeeded, no event comes
// twice, and the rewards rise as in `npm run demo`. Which engines the workers have is the caller's.
import OpenAI from 'openai';
import { expect, vi } from 'vitest';
import type { Client, Model } from '#client/client';
import { evaluate, inferenceName, reinforce, type Task } from '../../examples/demo/rl-loop.ts';
import { yesNoMaybe } from '../../examples/demo/tasks.ts';
import { collect } from './collect.ts';
import type { DistServer } from './dist-server.ts';
import type { ClusterWorker, RayCluster } from './ray-cluster.ts';

export type Victim = 'sampler' | 'trainer' | 'node' | 'server';
export interface Death {
  readonly moment: 'rollouts' | 'job';
  readonly victim: Victim;
}

export interface LearningCluster {
  readonly server: DistServer;
  readonly cluster: RayCluster;
  readonly client: Client;
  readonly openai: OpenAI;
  readonly base: string;
  /** Of the model that learns. */
  readonly name: string;
}

/** A sampler that starts takes its time, and 503 is answered until it is there. */
const RETRIES = 100;
const SOON = { timeout: 120_000, interval: 500 };

/** One death in each step, the first step's first; two steps more without. Gives the model that learnt. */
export async function learnWhileTheyDie(there: LearningCluster, deaths: readonly Death[]): Promise<Model> {
  const { server, client, openai, base, name } = there;
  const task: Task = { ...yesNoMaybe, steps: deaths.length + 2 };
  const died: Death[] = [];
  const dying: Promise<void>[] = [];
  let step = 0;
  function reach(moment: Death['moment']): void {
    const death = deaths[step];
    if (death?.moment !== moment || died.includes(death)) return;
    died.push(death);
    dying.push(kill(there, death.victim));
  }

  const model: Model = await client.registerModel({ project: 'cluster', name, base_model: base });
  const rolling = new OpenAI({
    ...{ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: RETRIES },
    async fetch(url, init) {
      const response = await fetch(url, init);
      reach('rollouts');
      return response;
    },
  });
  const jobs: string[] = [];
  const trainer: Pick<Client, 'train'> = {
    async train(request, options) {
      const job = await client.train(request, {
        ...options,
        idempotencyKey: `${name}-${step}`,
        onSubmitted: ({ id }) => jobs.push(id),
        onEvent: ({ type }) => type === 'gradient_step' && reach('job'),
      });
      expect(job.status).toBe('succeeded');
      await Promise.all(dying); // the next step's victim is another
      return job;
    },
  };

  const rewards: number[] = [];
  for await (const report of reinforce(rolling, trainer, model, task)) {
    rewards.push(report.reward);
    step++;
  }
  rewards.push(await evaluate(openai, inferenceName(model), yesNoMaybe, yesNoMaybe.prompts(0)));

  expect(died).toEqual(deaths);
  for (const id of jobs) await expectWhole(client, id);
  expect(await collect(client.listTrainingJobs({ model_id: model.id }))).toMatchObject(
    jobs.map((id, at) => ({ id, status: 'succeeded', step: at + 1 })),
  );
  expect(rewards.at(-1)!, rewards.join(' ')).toBeGreaterThan(0.9);
  expect(rewards.at(-1)! - rewards[0]!, rewards.join(' ')).toBeGreaterThan(0.15);
  return model;
}

/** As the kernel, a power cut or an operator would do it. */
async function kill({ server, cluster }: LearningCluster, victim: Victim): Promise<void> {
  /** Those of which is known where they are: after another death, that takes a while. */
  const placed = (role: ClusterWorker['role']) =>
    vi.waitFor(async () => {
      const { workers } = await cluster.status();
      const found = workers.filter((worker) => worker.role === role && worker.pid !== undefined);
      expect(found, `a ${role} that is placed`).not.toEqual([]);
      return found;
    }, SOON);
  if (victim === 'server') {
    await server.kill();
    await server.start();
  } else if (victim === 'node') {
    const [trainer] = await placed('trainer');
    await cluster.killNode(trainer!.node!);
    await cluster.addNode();
  } else {
    const [worker] = await placed(victim);
    process.kill(worker!.pid!, 'SIGKILL');
  }
}

/** Each gradient step has one event, and nothing else was said but its start and its end. */
async function expectWhole(client: Client, job: string): Promise<void> {
  const events = await collect(client.listEvents(job));
  const { num_sequences: gradientSteps } = events[0]!.data as { num_sequences: number };
  expect(events.map(({ type }) => type)).toEqual([
    'training_started',
    ...Array.from({ length: gradientSteps }, () => 'gradient_step'),
    'training_ended',
  ]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
}
