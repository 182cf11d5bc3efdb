// Work that makes a server hold as much as it may (model-memory.ts): a batch that fills its cache, and a job of one row.
import { createClient, type RlJobRequest } from '#client/client';
import type { BenchServer } from './bench-server.ts';

export const SEQUENCES_PER_MODEL = 2;
/** A capacity class, and all of it. */
export const SEQUENCE_LENGTH = 512;
export const ROW_LENGTH = 512;

const NEW_TOKENS = 32;
const ANSWER_TOKENS = 240;
const WORK_MS = 1_200_000;

/** All at once, every prompt different. Streamed: a large model's answer takes longer than the 300 s for which Node's `fetch` waits for a byte. */
export async function sampleFromAll({ url, key }: BenchServer, models: readonly string[]): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (model: string, place: number): Promise<void> => {
    const prompt = Array.from({ length: SEQUENCE_LENGTH - NEW_TOKENS }, (_, i) => (i + 7 * place) % 300);
    const body = JSON.stringify({ model, prompt, max_tokens: NEW_TOKENS, ignore_eos: true, stream: true });
    const signal = AbortSignal.timeout(WORK_MS);
    const answer = await fetch(`${url}/v1/completions`, { method: 'POST', headers, body, signal });
    const events = await answer.text();
    if (!events.endsWith('data: [DONE]\n\n')) throw new Error(`the stream ended without [DONE]: ${events.slice(-500)}`);
  };
  const each = models.flatMap((model) => Array.from({ length: SEQUENCES_PER_MODEL }, () => model));
  await Promise.all(each.map(ask));
}

/** A group of two answers in one row; resolves once its checkpoint can be used. */
export async function trainRow({ url, key }: BenchServer): Promise<void> {
  const client = createClient({ baseUrl: url, apiKey: key });
  const [base] = await client.listBaseModels();
  const { id } = await client.registerModel({ project: 'bench', name: 'memory', base_model: base! });
  const job = { model_id: id, trajectory_groups: [{ trajectories: [trajectory(0), trajectory(1)] }] };
  await client.train({ ...job, experimental_config: { packed_sequence_length: ROW_LENGTH } }, { deadlineMs: WORK_MS });
}

type Trajectory = NonNullable<RlJobRequest['trajectory_groups']>[number]['trajectories'][number];

function trajectory(reward: number): Trajectory {
  const content = Array.from({ length: ANSWER_TOKENS }, (_, i) => ({
    token: `token_id:${(31 * i + 7 * reward) % 300}`,
    logprob: -11,
    bytes: [97],
    top_logprobs: [],
  }));
  const message = { role: 'assistant', content: 'yes' };
  const choice = { index: 0, finish_reason: 'stop', message, logprobs: { content } };
  return { messages_and_choices: [{ role: 'user', content: 'Yes or no?' }, choice], reward };
}
