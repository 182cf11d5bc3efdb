// Kills at random moments in one run: of the server, of its trainer, of its sampler, while jobs are submitted, wait, train
// and end, and while clients chat. No job is lost or made twice, no event is missing or duplicated, every adapter has the bytes
// of an undisturbed run, and every chat answer equals the one of its seed.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { extract } from 'tar-stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { pushArtifact } from '#client/artifact-files';
import { ApiError, type Client, type Model, type RlJobRequest, type SftJobRequest } from '#client/client';
import { createServerProcess, type ServerProcess, type Victim } from '../../support/crash/server-process.ts';
import { IS_LONG } from '../../support/skipping.ts';

const KILLS = IS_LONG ? 40 : 15;
const VICTIMS: readonly Victim[] = ['server', 'training', 'inference'];
/** Bursts, and pauses in which a job progresses: the longest is this, or two starts of a job if those take longer. */
const PAUSE_MS_MAX = 3_000;
const PAUSE_JOB_STARTS = 2;
const DEADLINE_MS = 600_000; // engines that are killed often restart with growing delays
const BASE = 'whetstone/starter';

let data: string;
let server: ServerProcess;

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-crash-'));
  server = await createServerProcess(data);
  await server.start();
});
afterEach(async () => {
  await server.kill('server').catch(() => {}); // it ended with the test, or failed with it
  await rm(data, { recursive: true, force: true });
});

/** A patient client: it retries after a lost connection and after an error that says "try again". */
async function retrying<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isTransient = error instanceof ApiError ? error.status >= 500 || error.status === 409 : isLost(error);
      if (!isTransient || Date.now() > deadline) throw error;
      await delay(100);
    }
  }
}

type JobData = Omit<RlJobRequest, 'model_id'> | Omit<SftJobRequest, 'model_id'>;

const isLost = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof DOMException && error.name === 'AbortError');

/** Bodies whose rewards differ inside each group; short rows, so that there are many gradient steps. */
async function sampleGroups(client: Client): Promise<JobData[]> {
  const configs = [{}, { ppo: true, precalculate_logprobs: true }, { kl_penalty_coef: 0.1 }];
  return Promise.all(
    configs.map(async (config, c) => ({
      experimental_config: { learning_rate: 1e-3, packed_sequence_length: 64, ...config },
      trajectory_groups: await Promise.all(
        Array.from({ length: 12 }, async (_, g) => {
          const messages = [{ role: 'user', content: `What is ${10 + c} + ${20 + g}?` }];
          const sampling = { n: 8, temperature: 1, seed: 100 * c + g, max_tokens: 8, logprobs: true };
          const { choices } = await client.chat({ model: BASE, messages, ...sampling });
          const rewarded = choices.map((choice, k) => ({ messages_and_choices: [...messages, choice], reward: k % 3 }));
          return { trajectories: rewarded };
        }),
      ),
    })),
  );
}

/** Rows of an artifact, in batches of several packed rows. */
async function pushExamples(client: Client): Promise<JobData> {
  const rows = Array.from({ length: 24 }, (_, i) => ({
    messages: [
      { role: 'user', content: `What is ${30 + i} + ${i}?` },
      { role: 'assistant', content: `It is ${30 + 2 * i}.` },
    ],
  }));
  const path = join(data, 'train.jsonl');
  await writeFile(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  const { uri } = await pushArtifact(client, '~/crash/examples', path);
  return { training_data_url: uri, config: { batch_size: 4, learning_rate: 1e-3 } };
}

const register = (client: Client, name: string): Promise<Model> =>
  retrying(() => client.registerModel({ project: 'crash', name, base_model: BASE }));

/** Two at a time, so that one waits while the other runs. */
async function trainUntil(
  client: Client,
  model: Model,
  bodyOf: (job: number) => JobData,
  isOver: (jobs: number) => boolean,
) {
  const ids: string[] = [];
  while (!isOver(ids.length)) {
    const request = { model_id: model.id, ...bodyOf(ids.length) };
    const idempotencyKey = `${model.name}-${ids.length}`;
    const submit = () =>
      'training_data_url' in request
        ? client.submitSftJob(request, { idempotencyKey })
        : client.submitTrainingJob(request, { idempotencyKey });
    ids.push((await retrying(submit)).id);
    if (ids.length > 1) await client.follow(ids.at(-2)!, { deadlineMs: DEADLINE_MS });
  }
  for (const id of ids) await client.follow(id, { deadlineMs: DEADLINE_MS });
  return ids;
}

/** How long a job needs here from its submission to its first gradient step, when an attempt can first be saved. */
async function startOfJobMs(client: Client, body: JobData): Promise<number> {
  const { id: model_id } = await register(client, 'undisturbed-start');
  const startMs = performance.now();
  const { id } = await client.submitTrainingJob({ model_id, ...(body as Omit<RlJobRequest, 'model_id'>) });
  let firstStepMs: number | null = null;
  await client.follow(id, {
    onEvent: ({ type }) => void (firstStepMs ??= type === 'gradient_step' ? performance.now() - startMs : null),
  });
  return firstStepMs!;
}

/** Repeats the same question. */
async function chatUntil(client: Client, isOver: () => boolean): Promise<Set<string>> {
  const answers = new Set<string>();
  while (!isOver()) {
    const messages = [{ role: 'user', content: 'What is 31 + 12? Say it at length.' }];
    const request = { model: BASE, messages, temperature: 1.2, seed: 5, max_tokens: 64, ignore_eos: true };
    await delay(200); // gives training time
    answers.add((await retrying(() => client.chat(request))).choices[0]!.message.content!);
  }
  return answers;
}

/** What a replay must repeat: everything except durations. */
async function eventsOf(client: Client, jobId: string): Promise<unknown[]> {
  const all = await collect(client.listEvents(jobId));
  const events = all.filter(({ type }) => type !== 'training_waiting'); // who waits for whom is a matter of time
  return events.map(({ type, data }) => ({ type, data: { ...data, tokens_per_second: null } }));
}

/** Hashes of the files of a step; the tar itself contains the time of day. */
async function adapterOf(client: Client, model: Model, step: number): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  const tar = Readable.from((await client.downloadCheckpoint(model.id, step)).content).pipe(extract());
  for await (const entry of tar) {
    const hash = createHash('sha256');
    for await (const chunk of entry) hash.update(chunk as Uint8Array);
    hashes[entry.header.name] = hash.digest('hex');
  }
  expect(Object.keys(hashes)).toContain('adapter_model.safetensors');
  return hashes;
}

test(`${KILLS} kills at random moments lose nothing, double nothing and change nothing`, async () => {
  const { client } = server;
  const bodies = [...(await sampleGroups(client)), await pushExamples(client)];
  const bodyOf = (job: number) => bodies[job % bodies.length]!;
  const pauseMsMax = Math.max(PAUSE_MS_MAX, PAUSE_JOB_STARTS * (await startOfJobMs(client, bodies[1]!)));
  const disturbed = await register(client, 'disturbed');
  const kills: Record<Victim, number> = { server: 0, training: 0, inference: 0 };
  const killed = () => kills.server + kills.training + kills.inference;
  const killedAt = { rest: 0, start: 0, steps: 0 };
  /** In a short run few jobs start: until enough kills have met a start, they wait for one. */
  const waitsForStart = () => killedAt.start <= KILLS / 10 && killedAt.steps === 0;
  /** Each process and each phase of a job must be hit often enough; a machine on which jobs are quick needs a few more kills. */
  const isEnough = () =>
    killed() >= 2 * KILLS ||
    (killed() >= KILLS &&
      Math.min(...Object.values(kills)) > KILLS / 5 &&
      Math.min(killedAt.start, killedAt.steps) > KILLS / 10);

  const training = trainUntil(client, disturbed, bodyOf, isEnough);
  const chatting = chatUntil(client, isEnough);
  const random = createRandom(20);
  while (!isEnough()) {
    if (!waitsForStart()) await delay(random.next() ** 2 * pauseMsMax);
    const victim = VICTIMS[random.integer(VICTIMS.length)]!;
    const [running] = await collect(client.listTrainingJobs({ status: 'running' }));
    if (waitsForStart() && running === undefined) continue;
    if (!(await server.kill(victim))) continue;
    kills[victim]++;
    killedAt[running === undefined ? 'rest' : running.progress === 0 ? 'start' : 'steps']++;
    if (victim === 'server') await server.start();
  }
  const jobs = await training;
  const answers = await chatting;
  expect(Math.min(...Object.values(kills)), JSON.stringify(kills)).toBeGreaterThan(KILLS / 5);
  expect(Math.min(killedAt.start, killedAt.steps), JSON.stringify(killedAt)).toBeGreaterThan(KILLS / 10);

  const calm = await register(client, 'calm');
  const expected = await trainUntil(client, calm, bodyOf, (n) => n === jobs.length);
  expect(await collect(client.listTrainingJobs({ model_id: disturbed.id }))).toMatchObject(
    jobs.map((id, i) => ({ id, status: 'succeeded', step: i + 1 })),
  );
  for (const [i, id] of jobs.entries()) {
    expect(await eventsOf(client, id), `events of job ${i}`).toEqual(await eventsOf(client, expected[i]!));
    expect(await adapterOf(client, disturbed, i + 1), `adapter ${i + 1}`).toEqual(await adapterOf(client, calm, i + 1));
  }
  expect([...answers]).toEqual([...(await chatUntil(client, once()))]);
  expect(await server.stop()).toBe(0);
}, 1_800_000);

async function collect<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of pages) all.push(item);
  return all;
}

/** False, then true. */
function once(): () => boolean {
  let asked = 0;
  return () => asked++ > 0;
}
