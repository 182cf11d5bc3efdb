import { expect, test } from 'vitest';
import type { ChatMessage } from '#domain/chat';
import { createConversationDigest } from './conversation-digest.ts';

const digestOf = (...messages: ChatMessage[]) => createConversationDigest(messages).read();
const call = { id: 'a', type: 'function' as const, function: { name: 'add', arguments: '{}' } };

test('nulls, empty lists, call ids and the split into parts do not change the digest of a conversation', () => {
  const plain = digestOf({ role: 'user', content: 'a\nb' }, { role: 'assistant', content: '', tool_calls: [call] });
  const parts = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  const asked: ChatMessage = { role: 'user', content: parts, tool_calls: [] };
  const renamed = { ...call, id: 'other' };
  expect(digestOf(asked, { role: 'assistant', content: null, tool_calls: [renamed] })).toBe(plain);
});

test('the digest is built message by message; role, text, calls and order change it', () => {
  const [question, answer]: ChatMessage[] = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const grown = createConversationDigest([question!]);
  grown.add(answer!);
  expect(grown.read()).toBe(digestOf(question!, answer!));
  const others = [
    digestOf(),
    digestOf(question!),
    digestOf(answer!, question!),
    digestOf({ role: 'system', content: 'a' }, answer!),
    digestOf(question!, { ...answer!, tool_calls: [call] }),
  ];
  expect(new Set([grown.read(), ...others]).size).toBe(6);
});
