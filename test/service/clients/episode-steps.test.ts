// The steps of trained tokens, over the server and the starter as they are: at an unchanged policy each token of an episode has the ratio
// 1, whichever endpoint answered; older episodes are counted, measured apart, and skipped if the job says so.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { KEY, MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';

let server: StarterServer;
let root: string;
let modelId: string;
beforeAll(async () => {
  server = await openStarterServer();
  root = server.baseUrl.replace(/\/v1$/, '');
  modelId = (await post<{ id: string }>('/v1/preview/models', { project: 'p', name: 'agent', base_model: MODEL })).id;
}, 60_000);
afterAll(() => server.close());

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const response = await fetch(`${root}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return (text.startsWith('{') ? JSON.parse(text) : text) as T;
}
const post = <T>(path: string, body: object) => call<T>('POST', path, body);
const get = <T>(path: string) => call<T>('GET', path);

interface ChatAnswer {
  id: string;
  choices: { message: object }[];
}

const model = 'p/agent';
const question = { role: 'user', content: 'Name a colour.' };

/** Two turns of chat, and a call of each other endpoint. Returns the id of the first answer. */
async function play(episode: string, reward: number, more: object = {}): Promise<string> {
  const base = `/e/${episode}/v1`;
  const first = await post<ChatAnswer>(`${base}/chat/completions`, { model, messages: [question], max_tokens: 12 });
  const messages = [question, first.choices[0]!.message, { role: 'user', content: 'Another one.' }];
  await post(`${base}/chat/completions`, { model, messages, max_tokens: 12, stream: true });
  await post(`${base}/messages`, { model, messages: [question], max_tokens: 12, system: 'You are a subagent.' });
  await post(`${base}/responses`, { model, input: `In ${episode}: name an animal.`, max_output_tokens: 12 });
  await post(`${base}/completions`, { model, prompt: `Once upon a time in ${episode}`, max_tokens: 12, n: 2 });
  await post(`/v1/preview/episodes/${episode}/reward`, { reward, ...more });
  return first.id;
}

/** Two episodes with different rewards. */
async function playGroup(name: string): Promise<string[]> {
  const episodes = [`${name}-good`, `${name}-bad`];
  for (const [i, episode] of episodes.entries()) await play(episode, 1 - i);
  return episodes;
}

interface Sequence {
  trained: boolean[];
  ratios: (number | null)[];
  policy_steps: (number | null)[];
  advantages: (number | null)[] | null;
}

interface Trained {
  events: { type: string; data: Record<string, unknown> }[];
  groups: { skipped: object }[];
  trajectories: { reason: string | null; sequences: Sequence[] }[][];
}

async function train(groups: string[][], config: object = {}): Promise<Trained> {
  const jobs = '/v1/preview/training-jobs';
  const body = { model_id: modelId, episode_groups: groups, experimental_config: { learning_rate: 2e-3, ...config } };
  const { id } = await post<{ id: string }>(jobs, body);
  const ended = () => get<{ status: string }>(`${jobs}/${id}`);
  await vi.waitFor(async () => expect((await ended()).status).toBe('succeeded'), { timeout: 90_000, interval: 100 });
  const { data: events } = await get<{ data: Trained['events'] }>(`${jobs}/${id}/events`);
  const trajectories: Trained['trajectories'] = [];
  for (const at of groups.keys())
    trajectories.push((await get<{ data: Trained['trajectories'][0] }>(`${jobs}/${id}/groups/${at}/tokens`)).data);
  return { events, groups: (await get<{ data: Trained['groups'] }>(`${jobs}/${id}/groups`)).data, trajectories };
}

const sequencesOf = ({ trajectories }: Trained) => trajectories.flat().flatMap(({ sequences }) => sequences);
const trainedValues = (sequences: readonly Sequence[], of: 'ratios' | 'policy_steps') =>
  sequences.flatMap((sequence) => sequence[of].filter((_, i) => sequence.trained[i]));
const stepEvents = ({ events }: Trained) =>
  events.filter(({ type }) => type === 'gradient_step').map(({ data }) => data);

test(
  'ratios are 1 at an unchanged policy; afterwards the same episodes are stale, told apart, and skipped on request',
  { timeout: 240_000 },
  async () => {
    const [fresh, stale, skipped] = [await playGroup('fresh'), await playGroup('stale'), await playGroup('skipped')];

    const first = await train([fresh]);
    const ratios = trainedValues(sequencesOf(first), 'ratios') as number[];
    expect(ratios.length).toBeGreaterThan(40);
    expect(Math.max(...ratios.map((ratio) => Math.abs(ratio - 1)))).toBeLessThan(1e-3);
    expect(new Set(trainedValues(sequencesOf(first), 'policy_steps'))).toEqual(new Set([0]));
    expect(stepEvents(first)).toMatchObject([{ staleness_mean: 0, staleness_max: 0 }]);
    expect(stepEvents(first)[0]!['sampler_log_ratio_p99']).toBeLessThan(1e-3);
    expect(stepEvents(first)[0]).not.toHaveProperty('stale_log_ratio_p99');

    const mixed = await train([stale, await playGroup('after')]);
    const [old, current] = mixed.trajectories.map((group) => group.flatMap(({ sequences }) => sequences));
    expect(new Set(trainedValues(old!, 'policy_steps'))).toEqual(new Set([0]));
    expect(new Set(trainedValues(current!, 'policy_steps'))).toEqual(new Set([1]));
    const [step] = stepEvents(mixed);
    expect(step).toMatchObject({ staleness_max: 1, staleness_mean: expect.closeTo(0.5, 0) as number });
    // The engines agree; only the policy has moved.
    expect(step!['sampler_log_ratio_p99']).toBeLessThan(1e-3);
    expect(step!['stale_log_ratio_p99']).toBeGreaterThan(1e-2);
    const farthest = (sequences: readonly Sequence[]) =>
      Math.max(...(trainedValues(sequences, 'ratios') as number[]).map((ratio) => Math.abs(ratio - 1)));
    expect(farthest(current!)).toBeLessThan(1e-3);
    expect(farthest(old!)).toBeGreaterThan(1e-2);
    const end = mixed.events.at(-1)!.data;
    expect(end).toMatchObject({ 'train/staleness_max': 1, 'train/stale_log_ratio_p99': step!['stale_log_ratio_p99'] });

    const bounded = await train([skipped, await playGroup('last')], { max_staleness: 1 });
    expect(bounded.groups.map((group) => group.skipped)).toEqual([{ stale: 2 }, {}]);
    expect(bounded.trajectories[0]!.map(({ reason }) => reason)).toEqual(['stale', 'stale']);
    expect(bounded.events[0]!.data).toMatchObject({ skipped: { stale: 2 }, config: { max_staleness: 1 } });
    expect(new Set(trainedValues(sequencesOf(bounded), 'policy_steps'))).toEqual(new Set([2]));
    expect(stepEvents(bounded)).toMatchObject([{ staleness_max: 0 }]);
  },
);
