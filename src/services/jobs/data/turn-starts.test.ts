// What the other messages of a conversation say is never trained, however the templates of model families write earlier turns once an
// answer follows: without their reasoning, without the system message, or with another end.
import { expect, test } from 'vitest';
import type { ChatMessage } from '#domain/chat';
import { AppError } from '#domain/errors';
import { createChatTemplate } from '#text/chat-template';
import { findWrittenTurn } from '#training/written-turn';
import { encoderOf, examples } from '../../../../test/support/golden/examples.ts';
import { readFixture } from '../../../../test/support/golden/fixture.ts';
import { createConversationEncoder } from './conversation-encoder.ts';

const { cases: families } = readFixture<{ readonly cases: readonly (readonly [family: string, template: string])[] }>(
  'templates/families.json',
);
const { tokenizer, eosTokenIds } = encoderOf(examples.cases.find(({ template }) => template === 'mistral')!);
const namedTokens = new Map([
  ['bos_token', '<s>'],
  ['eos_token', '</s>'],
]);
const parameters = { type: 'object', properties: { of: { type: 'string' } } };
const tools = [{ type: 'function' as const, function: { name: 'look', description: 'Looks.', parameters } }];
const call = { id: 'abcdefgh1', type: 'function' as const, function: { name: 'look', arguments: '{"of": "SEVEN"}' } };
const CONVERSATIONS: Readonly<Record<string, readonly ChatMessage[]>> = {
  'a system message': [
    { role: 'system', content: 'ABLE' },
    { role: 'user', content: 'BAKER' },
    { role: 'assistant', content: 'CHARLIE' },
    { role: 'user', content: 'DAVID' },
    { role: 'assistant', content: 'EASY' },
  ],
  'reasoning before a call': [
    { role: 'user', content: 'ABLE' },
    { role: 'assistant', content: null, reasoning_content: 'BAKER', tool_calls: [call] },
    { role: 'tool', content: 'CHARLIE', tool_call_id: call.id, name: 'look' },
    { role: 'assistant', content: 'DAVID', reasoning_content: 'EASY' },
  ],
  'two answers': [
    { role: 'user', content: 'ABLE' },
    { role: 'assistant', content: 'BAKER', reasoning_content: 'CHARLIE' },
    { role: 'assistant', content: 'DAVID' },
  ],
};
const wordsIn = (value: unknown): string[] => JSON.stringify(value).match(/[A-Z]{4,}/g) ?? [];

/** What is trained of a turn; null: the template refuses the conversation. */
function trainedText(source: string, messages: readonly ChatMessage[], place: number): string | null {
  try {
    const chatTemplate = createChatTemplate({ default: source }, namedTokens, { now: () => 0 });
    const encoder = createConversationEncoder('m', { tokenizer, chatTemplate, eosTokenIds }, tokenizer.vocabSize);
    const turn = findWrittenTurn(messages, place, { tools }, encoder)!;
    return turn.runs.map(({ from, to }) => turn.text.slice(from, to)).join(' ');
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

test.each([...families, ...Object.entries(examples.templates)])('%s', (_, source) => {
  for (const [name, messages] of Object.entries(CONVERSATIONS))
    for (const [place, message] of messages.entries()) {
      if (message.role !== 'assistant') continue;
      const others = wordsIn(messages.filter((each) => each !== message));
      const trained = wordsIn(trainedText(source, messages, place));
      expect(
        trained.filter((word) => others.includes(word)),
        `${name}, message ${place}`,
      ).toEqual([]);
    }
});
