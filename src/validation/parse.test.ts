// All faults of a value are reported if that is cheap, otherwise only the first: a request with a million faults must not keep
// other requests waiting.
import { expect, test } from 'vitest';
import { parseChatRequest } from '#api/chat/chat-request';
import { trajectoryGroup } from '#rows/trajectory';
import { parse, ValidationError } from './parse.ts';

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ValidationError) return error.items.map(({ loc, type }) => `${loc.join('.')} ${type}`);
    throw error;
  }
  return [];
}

const chat = (fields: object) => () => parseChatRequest({ messages: [{ role: 'user', content: 'Hi' }], ...fields });

test('a key that would be lost is refused: of a body, and of records of a client’s own keys', () => {
  const sent = (text: string) => () => parseChatRequest(JSON.parse(text));
  const messages = '"messages":[{"role":"user","content":"Hi"}]';
  expect(faultsOf(sent(`{${messages},"__proto__":{"n":2}}`))).toEqual(['body.__proto__ value_error']);
  expect(faultsOf(sent(`{${messages},"logit_bias":{"__proto__":1}}`))).toEqual(['body.logit_bias value_error']);
});

test('all faults of a short list are reported, up to 50', () => {
  expect(faultsOf(chat({ tools: [0, 0, 0], n: 'x' }))).toHaveLength(4);
  expect(faultsOf(chat({ tools: Array(1_000).fill(0) }))).toHaveLength(50);
});

test('a list of half a million faults is refused by its first one', () => {
  const many = Array<number>(500_000).fill(0);
  expect(faultsOf(chat({ messages: many }))).toEqual(['body.messages too_long']);
  expect(faultsOf(chat({ messages: [{ role: 'user', content: many }] }))[0]).toMatch(/^body.messages.0.content.str/);
  const group = { trajectories: [{ messages_and_choices: [], additional_histories: many }] };
  expect(faultsOf(() => parse(trajectoryGroup, group, 'body'))).toEqual([
    'body.trajectories.0.additional_histories too_long',
  ]);
});

test('a list of half a million wrong turns is refused, as is one turn with half a million wrong parts', () => {
  const turns = (list: unknown[]) => () =>
    parse(trajectoryGroup, { trajectories: [{ messages_and_choices: list }] }, 'body');
  expect(faultsOf(turns(Array<number>(500_000).fill(0)))).toHaveLength(1);
  const parts = Array<number>(500_000).fill(0);
  expect(faultsOf(turns([{ role: 'user', content: parts }])).length).toBeGreaterThan(0);
});

test('a dictionary of half a million entries is refused by its size', () => {
  const biases = Object.fromEntries(Array.from({ length: 500_000 }, (_, id) => [id, 'x']));
  expect(faultsOf(chat({ logit_bias: biases }))).toEqual(['body.logit_bias too_long']);
});

test.each(['temperature', 'seed', 'n', 'stream'])(
  '%s as a text of 15 million digits is refused by its length',
  (field) => {
    expect(faultsOf(chat({ [field]: '1'.repeat(15_000_000) }))).toHaveLength(1);
  },
);
