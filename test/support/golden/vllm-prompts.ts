// Compares prompts with those that vLLM's server makes of the same requests, of which fixtures/templates have digests, for the structures of
// model families in families.json (python/golden/make_conversations.py, make_conversions.py).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buildPrompt } from '#services/chat/prompt';
import type { ChatRequest } from '#services/chat/chat-request';
import { createChatTemplate } from '#text/chat-template';
import type { TextModel } from '#text/text-model';
import { AppError } from '#domain/errors';
import { ValidationError } from '#validation/parse';
import { parseJson } from '#validation/json-text';
import { fixturePath } from './fixture.ts';

/** As bodies of requests are read: with what Python knows of them. */
export const readTemplates = (name: string): unknown =>
  parseJson(readFileSync(fixturePath(`templates/${name}.json`), 'utf8'));

const { now, cases } = readTemplates('families') as {
  readonly now: string;
  readonly cases: readonly (readonly [family: string, template: string])[];
};
const families = new Map(cases.map(([name, source]) => [name, source]));
const namedTokens = new Map([
  ['bos_token', '<s>'],
  ['eos_token', '</s>'],
]);

function openModel(source: string): TextModel {
  const chatTemplate = createChatTemplate({ default: source }, namedTokens, { now: () => new Date(now).getTime() });
  const prompts: TextModel['prompts'] = {
    make: ({ prompt }) =>
      Promise.resolve({ text: typeof prompt === 'string' ? prompt : chatTemplate.render(prompt), tokens: [0] }),
  };
  return { chatTemplate, namedTokens, prompts, tokenizer: { tokenCharactersMax: 100 } } as unknown as TextModel;
}

type Read = (body: unknown) => ChatRequest;

/** Null: it is refused. */
async function promptOf(model: TextModel, read: Read, body: unknown): Promise<string | null> {
  const limits = { modelId: 'm', contextLength: 100_000, answerRoom: 0 };
  const by = { payer: 'p', signal: new AbortController().signal };
  try {
    return (await buildPrompt({ acceptsTemplates: false }, model, read(body), limits, by)).text;
  } catch (error) {
    if (error instanceof AppError || error instanceof ValidationError) return null;
    throw error;
  }
}

const digest = (text: string | null): string =>
  text === null ? 'refused' : createHash('sha256').update(text).digest('hex').slice(0, 12);

/** The requests, by place, whose prompts are none of those that vLLM makes, which `digests` has for each request. */
export async function differences(family: string, read: Read, requests: readonly unknown[], digests: string) {
  const model = openModel(families.get(family)!);
  const made = await Promise.all(requests.map((body) => promptOf(model, read, body)));
  return digests
    .split(' ')
    .flatMap((wanted, i) => (wanted.split('|').includes(digest(made[i]!)) ? [] : [{ i, text: made[i] }]));
}
