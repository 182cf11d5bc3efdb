// Attacks on training: jobs and logs of odd shapes, jobs that cannot succeed, jobs cancelled at once, episodes, rows that take long to read.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { BYTES_MAX, hostileSftShapes, hostileTrainingShapes } from '../../test/support/security/hostile-bodies.ts';
import { once, oneOf, type Attack, type HostileClient, type Random } from './client.ts';

export const JOBS = '/v1/preview/training-jobs';
const SFT_JOBS = '/v1/preview/sft-training-jobs';

/** A job that is accepted runs for a moment, then is cancelled: otherwise it would outlast the attack. */
async function train(client: HostileClient, path: string, body: string, random: Random): Promise<void> {
  const made = await client.post(path, body);
  const id = made && (JSON.parse(made) as { id?: string }).id;
  if (!id) return;
  await delay(1_000 * random.next());
  await client.post(`${JOBS}/${id}/cancel`, {});
}

/** Begins a job that takes long, and cancels it when `use` has ended. */
export async function duringJob(client: HostileClient, use: (id: string) => Promise<unknown>): Promise<void> {
  const made = await client.post(SFT_JOBS, {
    ...{ model_id: client.pupil, training_data_url: client.rows.uri, config: { batch_size: 1 } },
  });
  if (made === null) return client.hold(100);
  const { id } = JSON.parse(made) as { id: string };
  await use(id);
  await client.post(`${JOBS}/${id}/cancel`, {});
}

/** Data that is accepted, and takes long to read. */
export const ROWS = '{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"ok"}]}\n'.repeat(
  50_000,
);

function poisonJobs({ pupil: model_id, rows }: HostileClient): Readonly<Record<string, [string, string]>> {
  const said = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const trajectory = { messages_and_choices: Array.from({ length: 990 }, () => said).flat() };
  const trajectories = [1, 0].map((reward) => ({ ...trajectory, reward }));
  const experimental_config = { allow_training_without_logprobs: true };
  const rl = { model_id, trajectory_groups: [{ trajectories }], experimental_config };
  const huge = {
    ...rl,
    trajectory_groups: [{ trajectories: trajectories.map((each) => ({ ...each, reward: 1e308 })) }],
  };
  const sft = (batch_size: number) => JSON.stringify({ model_id, training_data_url: rows.uri, config: { batch_size } });
  return {
    'two thousand turns that nobody sampled': [JOBS, JSON.stringify(rl)],
    'a reward that is no reward': [JOBS, JSON.stringify(huge)],
    'fifty thousand rows in one batch': [SFT_JOBS, sft(65_536)],
    'fifty thousand batches': [SFT_JOBS, sft(1)],
  };
}

const brokenJobs = (bytes: number): readonly (string | Uint8Array)[] => [
  `{"model_id":"x","trajectory_groups":[{"trajectories":[${'{"a":1},'.repeat(bytes / 8)}`,
  randomBytes(1 + bytes),
  JSON.stringify({ model_id: 'none', trajectory_groups: [] }),
  `{"model_id":"x","trajectory_groups":[${'1,'.repeat(bytes)}1]}`,
];

const shapes = (
  kind: string,
  all: (pupil: string) => Readonly<Record<string, (bytes: number) => string>>,
  attempt: (client: HostileClient, body: string, random: Random) => Promise<unknown>,
): readonly Attack[] =>
  Object.keys(all('')).map((name) => {
    let body: string | undefined;
    return {
      name: `${kind}: ${name}`,
      attempt: (client, random) => attempt(client, (body ??= all(client.pupil)[name]!(BYTES_MAX)), random),
    };
  });

export const trainingAttacks = (): readonly Attack[] => [
  ...shapes('job', hostileTrainingShapes, (client, body, random) => train(client, JOBS, body, random)),
  ...shapes('log', hostileTrainingShapes, (client, body) =>
    client.post(`/v1/preview/models/${client.pupil}/log`, body),
  ),
  ...shapes('SFT job', hostileSftShapes, (client, body, random) => train(client, SFT_JOBS, body, random)),
  ...[0, 1, 2, 3].map((i): Attack => {
    const names = ['two thousand turns', 'no reward', 'one batch of all rows', 'fifty thousand batches'];
    return {
      name: `poisoned job: ${names[i]}`,
      attempt: (client, random) => train(client, ...Object.values(poisonJobs(client))[i]!, random),
    };
  }),
  {
    name: 'jobs that are no jobs',
    attempt: (client, random) =>
      client.send('POST', JOBS, { body: oneOf(brokenJobs(random.integer(200_000)), random) }),
  },
  {
    name: 'jobs cancelled at once',
    clients: 4,
    attempt: (client) => train(client, ...Object.values(poisonJobs(client))[0]!, { ...IMMEDIATE }),
  },
  {
    name: 'events of jobs, waited for and left',
    expected: '200',
    attempt: (client, random) =>
      duringJob(client, async (id) => {
        const asked = client.head('GET', `${JOBS}/${id}/events?wait=60`, 0);
        const leave = async () => {
          while (client.goesOn())
            await client.onSocket(async (socket) => {
              socket.write(asked);
              await delay(50 * random.next());
            });
        };
        await Promise.all(Array.from({ length: 8 }, leave));
      }),
  },
  {
    name: 'episodes without end',
    clients: 4,
    attempt: (client, random) =>
      client.post('/v1/preview/episodes', { model_id: client.pupil, group: `g${random.integer(1_000_000)}` }),
  },
  {
    name: 'names of models, one for each request',
    clients: 4,
    attempt: (client, random) =>
      client.post('/v1/preview/models', {
        project: 'hostile',
        name: `m-${random.integer(2 ** 31)}`,
        base_model: client.model,
      }),
  },
  {
    name: 'metadata of a million values',
    attempt: (client) => client.post('/v1/preview/episodes', METADATA()),
  },
];

const METADATA = once(() => `{"model_id":"x","metadata":{"x":[${'0,'.repeat(1_000_000)}0]}}`);
const IMMEDIATE = { next: () => 0, integer: () => 0 } as unknown as Random;
