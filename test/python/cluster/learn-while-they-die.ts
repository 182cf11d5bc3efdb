// What every cluster must ensure: a model learns while workers, a node and the server are killed. Each job succeeds, no event
// occurs twice, and the rewards rise as in `npm run demo`. The caller chooses the engines of the workers.
import OpenAI from 'openai';
import { expect, vi } from 'vitest';
import type { Client, Model } from '#client/client';
import { evaluate, reinforce, type Task } from '../../../examples/demo/rl-loop.ts';
import { inferenceName } from '../../../examples/shared/inference-name.ts';
import { yesNoMaybe } from '../../../examples/demo/tasks.ts';
import { collect } from './collect.ts';
import type { DistServer } from './dist-server.ts';
import { STATUS_MS, type ClusterWorker, type RayCluster } from './ray-cluster.ts';

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
  /** The model that learns. */
  readonly name: string;
}

/** After these the rewards have risen. */
const STEPS_MIN = 6;
/** A sampler takes a while to start, and the answer is 503 until it is there. */
const RETRIES = 100;
const SOON = { timeout: 120_000, interval: STATUS_MS };

/** One kill in each step, the first step's first. Returns the model that learnt. */
export async function learnWhileTheyDie(there: LearningCluster, deaths: readonly Death[]): Promise<Model> {
  const { server, client, openai, base, name } = there;
  const task: Task = { ...yesNoMaybe, steps: Math.max(STEPS_MIN, deaths.length) };
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
      await Promise.all(dying); // the next step kills another one
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
  /** Workers whose node is known: after another kill that takes a while. */
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

/** Each gradient step has one event, and the only other events are its start, its end, and what it waited for. */
async function expectWhole(client: Client, job: string): Promise<void> {
  const all = await collect(client.listEvents(job));
  const events = all.filter(({ type }) => type !== 'training_waiting');
  const { num_sequences: gradientSteps } = events[0]!.data as { num_sequences: number };
  expect(events.map(({ type }) => type)).toEqual([
    'training_started',
    ...Array.from({ length: gradientSteps }, () => 'gradient_step'),
    'training_ended',
  ]);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
}
