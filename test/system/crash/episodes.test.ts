// Agents at work while their server is killed: no answered call is missing from its episode, none is there twice, and each has the
// tokens that its agent got. Nor does online training use a group twice, or forget one.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createRandom } from '#base/random';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

const WAIT_MS = 120_000; // for busy machines; nothing is measured
/** More in a nightly run. */
const KILLS = Number(process.env['WHETSTONE_EPISODE_KILLS'] ?? 4);
const AGENTS = 6;
const MODEL = 'demo/agent';

let data: string;
let server: ServerProcess;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-episodes-'));
  server = await createServerProcess(data);
  await server.start();
}, WAIT_MS);
afterAll(async () => {
  await server.kill('server').catch(() => {});
  await rm(data, { recursive: true, force: true });
});

interface Answered {
  readonly id: string;
  readonly tokenIds: readonly number[];
}

/** Null: the server left. */
async function ask(episode: string, content: string, stream: boolean, model = MODEL): Promise<Answered | null> {
  const body = { model, messages: [{ role: 'user', content }], max_tokens: 12, return_token_ids: true, stream };
  try {
    const response = await fetch(`${server.url}/e/${episode}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) return null;
    if (!stream) {
      const { id, choices } = JSON.parse(text) as { id: string; choices: { token_ids: number[] }[] };
      return { id, tokenIds: choices[0]!.token_ids };
    }
    const chunks = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice('data: '.length)) as Chunk);
    const last = chunks.flatMap(({ choices = [] }) => choices).at(-1);
    if (!last?.finish_reason) return null; // cut off in the middle
    return { id: chunks[0]!.id, tokenIds: chunks.flatMap(({ choices = [] }) => choices[0]?.token_ids ?? []) };
  } catch {
    return null;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

interface Chunk {
  id: string;
  choices?: { token_ids?: number[]; finish_reason: string | null }[];
}

test(
  'after any kill, every answered call is in its episode once, with its tokens',
  { timeout: 300_000 + 30_000 * KILLS },
  async () => {
    await server.client.registerModel({ project: 'demo', name: 'agent', base_model: 'whetstone/starter' });
    const random = createRandom(7);
    const answered = new Map<string, Answered[]>();
    for (let kill = 0; kill < KILLS; kill++) {
      const over = new AbortController();
      let answers = 0;
      const agents = Array.from({ length: AGENTS }, async (_, agent) => {
        const episode = `agent-${kill}-${agent}`;
        const got: Answered[] = [];
        answered.set(episode, got);
        for (let turn = 0; !over.signal.aborted; turn++) {
          const answer = await ask(episode, `What is ${agent} + ${turn}?`, turn % 2 === 0);
          if (!answer) {
            await wait(50);
            continue;
          }
          got.push(answer);
          answers++;
        }
      });
      await vi.waitUntil(() => answers > AGENTS, WAIT_MS);
      await wait(1_000 * random.next());
      await server.kill('server');
      over.abort();
      await Promise.all(agents);
      await server.start();
    }
    let calls = 0;
    for (const [episode, got] of answered) {
      if (got.length === 0) continue;
      const stored = new Map<string, number[]>();
      for await (const { answer_id: id, choices, cut } of server.client.listEpisodeTokens(episode)) {
        expect(stored.has(id), `${episode} has ${id} once`).toBe(false);
        if (!cut) stored.set(id, [...choices[0]!.token_ids]);
      }
      for (const { id, tokenIds } of got) expect(stored.get(id), `${episode} has ${id}`).toEqual(tokenIds);
      calls += got.length;
      expect(await server.client.rewardEpisode(episode, { reward: 1 })).toMatchObject({ status: 'rewarded' });
    }
    expect(calls).toBeGreaterThan(KILLS * AGENTS);
  },
);

test(
  'after any kill, online training makes one step of each complete group',
  { timeout: 300_000 + 30_000 * KILLS },
  async () => {
    const { client } = server;
    const { id } = await client.registerModel({ project: 'demo', name: 'online', base_model: 'whetstone/starter' });
    await client.setOnlineTraining(id, { groups_per_step: 1, experimental_config: { learning_rate: 1e-4 } });
    const random = createRandom(11);
    const groups = Array.from({ length: 2 * KILLS }, (_, i) => `group-${i}`);
    for (const [i, group] of groups.entries()) {
      for (const [member, reward] of [0, 1].entries()) {
        const name = `${group}-${member}`;
        expect(await ask(`${group}/${name}`, `What is ${i} + ${member}?`, false, 'demo/online')).not.toBeNull();
        await client.rewardEpisode(name, { reward });
      }
      if (i % 2 === 0) continue;
      await wait(2_000 * random.next());
      await server.kill('server');
      await server.start();
    }
    const steps = async () => (await all(client.listCheckpoints(id))).map(({ step }) => step);
    await expect.poll(steps, { timeout: WAIT_MS, interval: 500 }).toHaveLength(groups.length + 1);
    const jobs = await all(client.listTrainingJobs({ model_id: id }));
    expect(jobs.map(({ status }) => status)).toEqual(groups.map(() => 'succeeded'));
    const episodes = await all(client.listEpisodes({ model_id: id }));
    expect(episodes.map(({ status }) => status)).toEqual(groups.flatMap(() => ['trained', 'trained']));
    expect(new Set(episodes.map(({ trained_by: by }) => by)).size).toBe(groups.length);
  },
);
