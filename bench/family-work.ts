// The work of a server in `npm run bench -- families`: how many tokens per second it prefills and decodes, and how long a job of eight rows
// takes from submission to its checkpoint. Knows a server and its tokenizer's digits, no model.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type Client, type RlJobRequest } from '#client/client';
import { pushArtifact } from '#client/artifact-files';
import type { BenchServer } from './bench-server.ts';
import { median } from './measurement.ts';
import { processorSecondsOf } from './process-time.ts';

const ROWS = 8;
const ROW_TOKENS = 256;
const PREFILL_TOKENS = 512;
const PROMPT_TOKENS = 24;
const NEW_TOKENS = 48;
const ROUNDS = 3;
const WORK_MS = 1_800_000;

export interface Speeds {
  readonly prefill: number;
  /** Tokens per second of all sequences, by their number. */
  readonly decode: Readonly<Record<1 | 8, number>>;
}

export interface JobTime {
  readonly seconds: number;
  /** All processors together: with two of them on an otherwise idle machine, the elapsed time is half of this. */
  readonly processorSeconds: number;
}

export type JobTimes = Readonly<Record<'sft' | 'rl', JobTime>>;

/** Tokens per second, medians. The first round is not counted, because caches grow during it. */
export async function measureSpeeds(server: BenchServer, model: string): Promise<Speeds> {
  let prompts = 0;
  /** Each prompt begins with different tokens, so that nothing of it is cached. */
  const prompt = (length: number): number[] => {
    const own = ++prompts;
    return Array.from({ length }, (_, i) => (i === 0 ? own : own + 7 * i) % 400);
  };
  const seconds = async (count: number, length: number, maxTokens: number): Promise<number> => {
    const startMs = performance.now();
    await Promise.all(Array.from({ length: count }, () => complete(server, model, prompt(length), maxTokens)));
    return (performance.now() - startMs) / 1000;
  };
  const rounds = async (rate: () => Promise<number>): Promise<number> => {
    await rate();
    const rates: number[] = [];
    for (let i = 0; i < ROUNDS; i++) rates.push(await rate());
    return median(rates);
  };
  const decode = (count: number) =>
    rounds(async () => {
      const first = await seconds(count, PROMPT_TOKENS, 1);
      return (count * NEW_TOKENS) / ((await seconds(count, PROMPT_TOKENS, 1 + NEW_TOKENS)) - first);
    });
  return {
    prefill: await rounds(async () => PREFILL_TOKENS / (await seconds(1, PREFILL_TOKENS, 1))),
    decode: { 1: await decode(1), 8: await decode(8) },
  };
}

/** The first job of each kind, as a user experiences it: including compilation and loading. */
export async function measureJobs(server: BenchServer, base_model: string, directory: string): Promise<JobTimes> {
  const client = createClient({ baseUrl: server.url, apiKey: server.key });
  const frame = await tokensOf(server, base_model, [QUESTION, answer('')]);
  const text = (row: number): string =>
    Array.from({ length: ROW_TOKENS - frame }, (_, i) => (i * 7 + row) % 10).join('');
  const register = (name: string) => client.registerModel({ project: 'bench', name, base_model });

  const lines = Array.from({ length: ROWS }, (_, row) => ({ messages: [QUESTION, answer(text(row))] }));
  const tokens = await tokensOf(server, base_model, lines[0]!.messages);
  if (tokens !== ROW_TOKENS) throw new Error(`a row has ${tokens} tokens instead of ${ROW_TOKENS}`);
  const path = join(directory, 'rows.jsonl');
  await writeFile(path, lines.map((line) => JSON.stringify(line)).join('\n'));
  const { uri } = await pushArtifact(client, '~/bench/rows', path);
  const config = { batch_size: ROWS, packing: true };
  const sft = { model_id: (await register('sft')).id, training_data_url: uri, config };

  const trajectories = Array.from({ length: ROWS }, (_, row) => trajectory(row, ROW_TOKENS - frame));
  const rl = { model_id: (await register('rl')).id, trajectory_groups: [{ trajectories }] };
  return { sft: await timeOf(server, client, sft), rl: await timeOf(server, client, rl) };
}

async function timeOf({ pid }: BenchServer, client: Client, job: Parameters<Client['train']>[0]): Promise<JobTime> {
  const [startMs, before] = [performance.now(), processorSecondsOf(pid)];
  await client.train(job, { deadlineMs: WORK_MS });
  const seconds = (performance.now() - startMs) / 1000;
  return { seconds, processorSeconds: processorSecondsOf(pid) - before };
}

const QUESTION = { role: 'user', content: 'Yes or no?' };
const answer = (content: string) => ({ role: 'assistant', content });

type Trajectory = NonNullable<RlJobRequest['trajectory_groups']>[number]['trajectories'][number];

function trajectory(row: number, tokens: number): Trajectory {
  const content = Array.from({ length: tokens }, (_, i) => ({
    token: `token_id:${(31 * i + 7 * row) % 400}`,
    logprob: -11,
    bytes: [97],
    top_logprobs: [],
  }));
  const choice = { index: 0, finish_reason: 'stop', message: answer('yes'), logprobs: { content } };
  return { messages_and_choices: [QUESTION, choice], reward: row };
}

async function complete(
  server: BenchServer,
  model: string,
  prompt: readonly number[],
  maxTokens: number,
): Promise<void> {
  await post(server, '/v1/completions', { model, prompt, max_tokens: maxTokens, ignore_eos: true });
}

async function tokensOf(server: BenchServer, model: string, messages: readonly unknown[]): Promise<number> {
  const body = { model, messages, add_generation_prompt: false };
  const { count } = (await post(server, '/tokenize', body)) as { count: number };
  return count;
}

async function post({ url, key }: BenchServer, path: string, body: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(WORK_MS);
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal });
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.json();
}
