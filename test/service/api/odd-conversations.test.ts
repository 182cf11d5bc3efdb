// Odd but valid requests, from their JSON to the text of the prompt, compared with vLLM's server for the structure of each model family
// (python/golden/make_conversations.py).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { buildPrompt } from '#services/chat/prompt';
import { createChatTemplate } from '#text/chat-template';
import type { TextModel } from '#text/text-model';
import { AppError } from '#domain/errors';
import { ValidationError } from '#validation/parse';
import { parseJson } from '#validation/json-text';
import { parseChatRequest } from '../../../src/api/chat/chat-request.ts';
import { fixturePath } from '../../support/golden/fixture.ts';

interface Expected {
  readonly now: string;
  readonly requests: readonly unknown[];
  /** For each request the digests of the texts that vLLM's server may make of it. */
  readonly cases: readonly (readonly [family: string, digests: string])[];
}

const read = (name: string) => parseJson(readFileSync(fixturePath(`templates/${name}.json`), 'utf8'));
const { now, requests, cases } = read('conversations') as Expected;
const families = new Map(
  (read('families') as { cases: [family: string, template: string][] }).cases.map(([name, source]) => [name, source]),
);
const clock = { now: () => new Date(now).getTime() };
const namedTokens = new Map([
  ['bos_token', '<s>'],
  ['eos_token', '</s>'],
]);

function openModel(source: string): TextModel {
  const chatTemplate = createChatTemplate({ default: source }, namedTokens, clock);
  const prompts: TextModel['prompts'] = {
    make: ({ prompt }) =>
      Promise.resolve({ text: typeof prompt === 'string' ? prompt : chatTemplate.render(prompt), tokens: [0] }),
  };
  return { chatTemplate, namedTokens, prompts, tokenizer: { tokenCharactersMax: 100 } } as unknown as TextModel;
}

/** Null: it is refused. */
async function promptOf(model: TextModel, body: unknown): Promise<string | null> {
  const limits = { modelId: 'm', contextLength: 100_000, answerRoom: 0 };
  const by = { payer: 'p', signal: new AbortController().signal };
  try {
    const { request } = parseChatRequest(structuredClone(body));
    return (await buildPrompt({ acceptsTemplates: false }, model, request, limits, by)).text;
  } catch (error) {
    if (error instanceof AppError || error instanceof ValidationError) return null;
    throw error;
  }
}

const digest = (text: string | null): string =>
  text === null ? 'refused' : createHash('sha256').update(text).digest('hex').slice(0, 12);

/** vLLM gives parts to the first, which writes nothing for them, and a text to the second, which reads parts within a macro of messages. */
const MISREAD = new Set(['functiongemma', 'kimi-k2-thinking']);

test.each(cases.filter(([family]) => !MISREAD.has(family)))('as vLLM renders them for %s', async (family, digests) => {
  const model = openModel(families.get(family)!);
  const made = await Promise.all(requests.map((body) => promptOf(model, body)));
  const wrong = digests
    .split(' ')
    .flatMap((wanted, i) => (wanted.split('|').includes(digest(made[i]!)) ? [] : [{ i, text: made[i] }]));
  expect(wrong).toEqual([]);
});
