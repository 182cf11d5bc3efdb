// The work done during faults, and its expected result: per round a model, an artifact, three jobs of different kinds, and
// everything that a client can read of them afterwards.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE } from '../../support/api/test-server.ts';
import type { FaultyClient } from './faulty-client.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** What one round acknowledged. Ids differ between runs, so `readBack` omits them. */
export interface Round {
  readonly modelId: string;
  readonly jobIds: readonly string[];
  /** As seen while the jobs ran. */
  readonly events: readonly (readonly Event[])[];
  readonly artifact: string;
}

const sampled = (content: string, tokens: readonly number[]) => ({
  index: 0,
  finish_reason: 'stop',
  message: { role: 'assistant', content },
  logprobs: {
    content: tokens.map((id, i) => ({ token: `token_id:${id}`, logprob: -1 - i / 4, bytes: null, top_logprobs: [] })),
  },
});

const trajectory_groups = ['ab', 'xyz'].map((letters) => ({
  trajectories: [...letters].map((letter, i) => ({
    messages_and_choices: [
      { role: 'user', content: `Say ${letters}.` },
      sampled(letter, [5 + i, 40 + letter.charCodeAt(0)]),
    ],
    reward: i,
  })),
}));
const RL = { trajectory_groups, experimental_config: { learning_rate: 1e-2, packed_sequence_length: 48 } };
const DEMANDING = {
  trajectory_groups,
  experimental_config: {
    ...RL.experimental_config,
    precalculate_logprobs: true,
    kl_penalty_coef: 0.1,
    kl_penalty_reference_step: 0,
  },
};
const DATA = ['yes', 'no', 'perhaps']
  .map((content) =>
    JSON.stringify({
      messages: [
        { role: 'user', content: 'Well?' },
        { role: 'assistant', content },
      ],
    }),
  )
  .join('\n');

export async function doRound(client: FaultyClient, number: number): Promise<Round> {
  const project = `round-${number}`;
  const made = await client.send('POST', '/v1/preview/models', {
    project,
    name: 'm',
    base_model: BASE,
    return_existing: true,
  });
  const { id: modelId } = made.json as { id: string };
  const artifact = `/v1/artifacts/default/${project}/data`;
  await client.send('PUT', `${artifact}/train.jsonl`, DATA);
  const submit = async (path: string, body: object) =>
    ((await client.send('POST', `/v1/preview/${path}`, { model_id: modelId, ...body })).json as { id: string }).id;
  const jobIds = [
    await submit('training-jobs', RL),
    await submit('training-jobs', DEMANDING),
    await submit('sft-training-jobs', {
      training_data_url: `wandb-artifact:///default/${project}/data`,
      config: { learning_rate: 1e-2, batch_size: 1 },
    }),
  ];
  const events = [];
  for (const id of jobIds) events.push(await follow(client, id));
  return { modelId, jobIds, events, artifact };
}

async function follow(client: FaultyClient, jobId: string): Promise<Event[]> {
  const seen: Event[] = [];
  while (!['training_ended', 'training_failed'].includes(seen.at(-1)?.type ?? '')) {
    seen.push(...(await eventsAfter(client, jobId, seen.at(-1)?.id ?? '')));
    await sleep(15);
  }
  return seen;
}

async function eventsAfter(client: FaultyClient, jobId: string, after: string): Promise<Event[]> {
  const page = await client.send('GET', `/v1/preview/training-jobs/${jobId}/events?limit=100&after=${after}`);
  const { data } = page.json as { data: Event[] };
  return data.filter(({ type }) => type !== 'training_waiting'); // who waits for whom is a matter of time
}

/** Everything that a client can see of a round, without ids and times. Equal to that of a run without faults. */
export async function readBack(client: FaultyClient, { modelId, jobIds, artifact }: Round) {
  const jobs = await client.send('GET', `/v1/preview/training-jobs?limit=100&model_id=${modelId}`);
  const steps = await client.send('GET', `/v1/preview/models/${modelId}/checkpoints?limit=100&order=asc`);
  const adapters = [];
  for (const { step } of (steps.json as { data: { step: number }[] }).data) {
    const tar = await client.send('GET', `/v1/preview/models/${modelId}/checkpoints/${step}/download`);
    adapters.push({ step, sha256: digestOf(withoutTimes(tar.bytes)) });
  }
  const events = [];
  for (const id of jobIds) {
    events.push((await eventsAfter(client, id, '')).map(({ type, data }) => ({ type, data: withoutSpeed(data) })));
  }
  return {
    jobs: (jobs.json as { data: Record<string, unknown>[] }).data.map(
      ({ status, type, step, progress, skipped, error_message }) => ({
        status,
        type,
        step,
        progress,
        skipped,
        error_message,
      }),
    ),
    adapters,
    events,
    data: (await client.send('GET', `${artifact}/train.jsonl`)).bytes.toString(),
  };
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const withoutSpeed = (data: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !name.includes('tokens_per_second')));

/** Headers of a tar contain times; files start at multiples of 512 bytes after them. */
function withoutTimes(tar: Buffer): Buffer {
  const files: Buffer[] = [];
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const size = parseInt(tar.toString('ascii', at + 124, at + 135), 8);
    files.push(tar.subarray(at, at + 100), tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return Buffer.concat(files);
}
