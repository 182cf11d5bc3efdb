// The whole server under kill -9 in the middle of a job, with the starter model, as a user runs it: after each restart the
// job goes on, no event is missing or there twice, and the adapter's bytes are those of a run that nobody disturbed.
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { extract } from 'tar-stream';
import { afterEach, expect, test } from 'vitest';
import { createClient, type Client, type TrainingEvent } from '#client/client';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const KEY = 'wk-crash-test';
const BASE = 'whetstone/starter';
const DEADLINE_MS = 60_000;

interface Server {
  readonly process: ChildProcess;
  readonly client: Client;
}

const running = new Set<ChildProcess>();
afterEach(() => running.forEach((child) => child.kill('SIGKILL')));

async function start(data: string): Promise<Server> {
  const args = [...process.execArgv, CLI, 'serve', '--port', '0', '--data', data, '--log-level', 'error'];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, WHETSTONE_API_KEY: KEY },
  });
  running.add(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^whetstone listening on (\S+)$/.exec(line)?.[1];
    if (url) return { process: child, client: createClient({ baseUrl: `${url}/v1`, apiKey: KEY }) };
  }
  throw new Error('the server ended before it listened');
}

async function kill({ process: child }: Server, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, 'exit') as Promise<[number | null]>;
  child.kill(signal);
  const [code] = await exited;
  running.delete(child);
  return code;
}

/** Rewards that differ inside each group; short rows, so that there are many gradient steps. */
async function makeJob(client: Client, modelName: string) {
  const prompts = Array.from({ length: 6 }, (_, i) => `What is ${10 + i} + ${20 + i}?`);
  const trajectory_groups = await Promise.all(
    prompts.map(async (content, i) => {
      const messages = [{ role: 'user', content }];
      const { choices } = await client.chat({
        model: modelName,
        messages,
        n: 8,
        temperature: 1,
        seed: 100 * i,
        max_tokens: 8,
      });
      return {
        trajectories: choices.map((choice, k) => ({ messages_and_choices: [...messages, choice], reward: k % 3 })),
      };
    }),
  );
  return { trajectory_groups, experimental_config: { learning_rate: 1e-3, packed_sequence_length: 64 } };
}

async function eventsOf(client: Client, jobId: string): Promise<TrainingEvent[]> {
  const events: TrainingEvent[] = [];
  for await (const event of client.listEvents(jobId)) events.push(event);
  return events;
}

/** Hashes of the files of step 1; the tar itself carries the time of day. */
async function adapterHashes(client: Client, modelId: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  const tar = Readable.from(await client.downloadCheckpoint(modelId, 1)).pipe(extract());
  for await (const entry of tar) {
    const hash = createHash('sha256');
    for await (const chunk of entry) hash.update(chunk as Uint8Array);
    hashes[entry.header.name] = hash.digest('hex');
  }
  return hashes;
}

/** What a replay must repeat: everything but the time it took. */
const repeatable = (events: readonly TrainingEvent[]) =>
  events.map(({ type, data }) => ({ type, data: { ...data, tokens_per_second: null } }));

test('a job survives three kills of the server and trains the same adapter', async () => {
  const data = await mkdtemp(join(tmpdir(), 'whetstone-crash-'));
  try {
    let server = await start(data);
    const { client } = server;
    const undisturbed = await client.registerModel({ project: 'crash', name: 'undisturbed', base_model: BASE });
    const disturbed = await client.registerModel({ project: 'crash', name: 'disturbed', base_model: BASE });
    const job = await makeJob(client, `wandb-artifact:///${undisturbed.entity}/crash/undisturbed`);

    const first = await client.submitTrainingJob({ model_id: undisturbed.id, ...job });
    await client.waitForJob(first.id, { deadlineMs: DEADLINE_MS });
    const second = await client.submitTrainingJob({ model_id: disturbed.id, ...job });

    for (const events of [1, 6, 15]) {
      const deadline = Date.now() + DEADLINE_MS;
      while ((await eventsOf(server.client, second.id)).length < events) expect(Date.now()).toBeLessThan(deadline);
      await kill(server, 'SIGKILL');
      server = await start(data);
    }
    await server.client.waitForJob(second.id, { deadlineMs: DEADLINE_MS });

    const expected = await eventsOf(server.client, first.id);
    expect(expected.length).toBeGreaterThan(17);
    expect(repeatable(await eventsOf(server.client, second.id))).toEqual(repeatable(expected));
    const [a, b] = await Promise.all([undisturbed, disturbed].map(({ id }) => adapterHashes(server.client, id)));
    expect(Object.keys(a!)).toContain('adapter_model.safetensors');
    expect(b).toEqual(a);
    expect(await kill(server, 'SIGTERM')).toBe(0);
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}, 240_000);
