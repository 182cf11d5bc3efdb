// Fields of a chat request that multiply each other, or are long lists: choices × log-probabilities, stops, biases, tools.
import type { Attack } from './client.ts';
import { chat, many } from './forms.ts';
import { doubling } from './schema-attacks.ts';

const LONG_PROMPT = [{ role: 'user', content: 'one two three four '.repeat(250) }];

export const fieldAttacks = (): readonly Attack[] => [
  chat('choices times log-probabilities', () => ({
    messages: LONG_PROMPT,
    n: 128,
    max_tokens: 4,
    logprobs: true,
    top_logprobs: 20,
    prompt_logprobs: 20,
    truncate_prompt_tokens: 900,
  })),
  chat('choices times tokens times alternatives', () => ({
    n: 128,
    max_tokens: 200,
    ignore_eos: true,
    logprobs: true,
    top_logprobs: 20,
  })),
  chat('a beam of many', () => ({ use_beam_search: true, n: 16, max_tokens: 8, temperature: 0 })),
  chat('a hundred thousand stops', () => ({ stop: many(100_000, (i) => `stop-${i}`) })),
  chat('long stops', () => ({ max_tokens: 64, n: 32, stop: many(4, (i) => `${i}${'xy'.repeat(1_500_000)}`) })),
  chat('a million stop ids', () => ({ stop_token_ids: many(900_000, (i) => i % 400) })),
  chat('a million allowed ids', () => ({ allowed_token_ids: many(900_000, (i) => i % 400) })),
  chat('biases of every token, for many choices', () => ({
    n: 64,
    max_tokens: 16,
    logit_bias: Object.fromEntries(many(480, (i) => [i, (i % 7) - 3])),
  })),
  chat('log-probabilities of many tokens', () => ({
    n: 64,
    max_tokens: 16,
    logprobs: true,
    logprob_token_ids: many(100, (i) => i),
  })),
  chat('a long text of which the end is kept', () => ({
    messages: [{ role: 'user', content: 'hello '.repeat(2_500_000) }],
    truncate_prompt_tokens: 8,
  })),
  chat('a thousand documents', () => ({ documents: many(1_000, (i) => ({ title: String(i), text: 'x' })) })),
  chat('wide variables of the template', () => ({
    chat_template_kwargs: Object.fromEntries(many(90_000, (i) => [`k${i}`, [i]])),
  })),
  chat('tools of deep schemas', () => ({
    tool_choice: 'required',
    max_tokens: 8,
    tools: many(64, (i) => ({ type: 'function', function: { name: `f${i}`, parameters: doubling(8) } })),
  })),
];
