// Builds preference pairs from a model's own answers: a better and a worse answer to the same prompt.
import type { Client } from '#client/client';
import { addition } from '../demo/tasks.ts';

export interface Pair {
  readonly prompt: readonly { readonly role: 'user'; readonly content: string }[];
  readonly chosen: readonly { readonly role: 'assistant'; readonly content: string }[];
  readonly rejected: readonly { readonly role: 'assistant'; readonly content: string }[];
}

interface Asking {
  /** The score to compare; higher is better. */
  readonly score: (prompt: string, answer: string) => number;
  readonly samples: number;
  readonly maxTokens: number;
}

/** Prompts of 16 sums each. */
const PROMPT_BATCHES = 24;

/** Settings of the job that trains on the sums. */
export const SUMS_CONFIG = { learning_rate: 2e-3, batch_size: 16, epochs: 3, warmup_ratio: 0.1, validation_split: 0.1 };

/** For each of the demo's sums, a correct answer preferred to a wrong one, out of four. */
export async function pairsOfSums(
  client: Pick<Client, 'chat'>,
  model: string,
): Promise<{ readonly sums: number; readonly pairs: readonly Pair[] }> {
  const prompts = Array.from({ length: PROMPT_BATCHES }, (_, batch) => addition.prompts(batch)).flat();
  const score = (prompt: string, answer: string) => addition.reward(prompt, answer);
  const pairs = await collectPairs(client, model, prompts, { score, samples: 4, maxTokens: addition.maxTokens });
  return { sums: prompts.length, pairs };
}

/** One pair per prompt whose answers differ in score; other prompts are left out. */
async function collectPairs(
  client: Pick<Client, 'chat'>,
  model: string,
  prompts: readonly string[],
  { score, samples, maxTokens }: Asking,
): Promise<Pair[]> {
  const pairs = await Promise.all(
    prompts.map(async (prompt, i) => {
      const messages = [{ role: 'user' as const, content: prompt }];
      const settings = { n: samples, temperature: 1, max_tokens: maxTokens, seed: 64 * i };
      const { choices } = await client.chat({ model, messages, ...settings });
      const answers = choices
        .map(({ message }) => message.content ?? '')
        .map((answer) => ({ answer, worth: score(prompt, answer) }))
        .sort((a, b) => b.worth - a.worth);
      const [best, worst] = [answers[0]!, answers.at(-1)!];
      if (best.worth === worst.worth) return null;
      const said = (content: string) => [{ role: 'assistant' as const, content }];
      return { prompt: messages, chosen: said(best.answer), rejected: said(worst.answer) };
    }),
  );
  return pairs.filter((pair) => pair !== null);
}
