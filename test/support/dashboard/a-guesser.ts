// A server with a model that learnt to guess numbers for some steps: two games, and one whose rewards are all equal. The tests
// compare everything that the pages show with the API.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { numberGuessing } from '../../../examples/number-guessing/game.ts';
import { startServer, type RunningServer } from '../../../examples/shared/server.ts';
import { heldOutRequest, heldOutReward } from '../../../examples/shared/held-out.ts';
import { createClient, gather, type Client, type Model, type TrajectoryGroup } from '#client/client';

export interface Guesser {
  readonly server: RunningServer;
  readonly client: Client;
  readonly model: Model;
  /** By step, from 1. */
  readonly jobs: readonly string[];
  get<T>(path: string): Promise<T>;
  send(method: string, path: string, body: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export interface List<T> {
  readonly data: readonly T[];
}

const ROLLOUTS = 4;
const [FIRST, SECOND] = [7, 15];

/** `evaluates`: every checkpoint answers the held-out positions of the game, and its answers are rewarded. */
export async function openGuesser(steps: number, { evaluates = false } = {}): Promise<Guesser> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-dashboard-'));
  const server = await startServer(directory);
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey });
  const headers = { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' };

  async function send(method: string, path: string, body?: unknown): Promise<unknown> {
    const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await fetch(`${server.url}${path}`, { method, headers, ...init });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  const model = await client.registerModel({ project: 'games', name: 'guesser', base_model: 'whetstone/starter' });
  for (let step = 0; step < steps; step++) {
    const trajectory_groups = await play(openai, model, step);
    const heldOut = evaluates ? { ...numberGuessing.heldOut!, samples: 4 } : null;
    const experimental_config = { learning_rate: 1e-3, packed_sequence_length: 512 };
    const evaluation = heldOut ? heldOutRequest(heldOut) : null;
    const { id } = await client.train({ model_id: model.id, trajectory_groups, experimental_config, evaluation });
    if (heldOut) await heldOutReward(client, id, heldOut);
  }
  const { data } = (await send('GET', `/v1/preview/training-jobs?model_id=${model.id}`)) as List<{ id: string }>;
  return {
    server,
    client,
    model,
    jobs: data.map(({ id }) => id),
    get: async <T>(path: string) => (await send('GET', path)) as T,
    send,
    async close() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function play(openai: OpenAI, { entity, project, name }: Model, step: number): Promise<TrajectoryGroup[]> {
  const games = numberGuessing.scenarios(step).filter((_, i) => i + 1 === FIRST || i + 1 === SECOND);
  const { groups } = await gather(
    games,
    (game, { group, rollout }) => {
      let seed = 10_000 * step + 1_000 * group + 100 * rollout;
      return game.play(async (messages) => {
        const body = { model: `${entity}/${project}/${name}`, temperature: 1, max_tokens: 4, seed: seed++ };
        return (await openai.chat.completions.create({ ...body, messages: [...messages] })).choices[0]!;
      });
    },
    { rollouts: ROLLOUTS, metadata: ({ about = {} }) => about },
  );
  const equal = groups[0]!.trajectories.map((trajectory) => ({ ...trajectory, reward: 0.5 }));
  return [...groups, { trajectories: equal, metadata: { secret: 'none' } }];
}
