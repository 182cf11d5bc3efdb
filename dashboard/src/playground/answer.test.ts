import { expect, test } from 'vitest';
import { addChunk, messageOf, NO_ANSWER, tokensOf, type Answer, type Chunk } from './answer.ts';

const chunkOf = (delta: object, more: object = {}, index = 0): Chunk => ({ choices: [{ index, delta, ...more }] });
const read = (...chunks: Chunk[]): Answer => chunks.reduce(addChunk, NO_ANSWER);
const token = (logprob: number, ...bytes: number[]) => ({
  logprobs: { content: [{ logprob, bytes, top_logprobs: [{ logprob: -2, bytes: [65] }] }] },
});

test('pieces become the text, and tokens the spans of it', () => {
  const answer = read(
    chunkOf({ role: 'assistant', content: '' }),
    chunkOf({ content: '' }, { ...token(-0.5, 0xc3), token_ids: [7] }),
    chunkOf({ content: 'é!' }, { ...token(-1, 0xa9, 0x21), token_ids: [8], finish_reason: 'stop' }),
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
  );
  expect(answer.usage).toEqual({ prompt_tokens: 3, completion_tokens: 2 });
  expect(messageOf(answer.choices[0]!)).toEqual({ role: 'assistant', content: 'é!' });
  expect(tokensOf(answer.choices[0]!)).toMatchObject({
    texts: ['', 'é!'],
    ids: [7, 8],
    sampler: [-0.5, -1],
    alternatives: [[{ text: 'A', logprob: -2 }], [{ text: 'A', logprob: -2 }]],
  });
});

test('tool calls also arrive in pieces, and the message contains them whole', () => {
  const call = (piece: object) => chunkOf({ tool_calls: [{ index: 0, ...piece }] });
  const answer = read(
    call({ id: 'a', function: { name: 'look_up', arguments: '' } }),
    call({ function: { arguments: '{"word"' } }),
    call({ function: { arguments: ':"x"}' } }),
  );
  expect(messageOf(answer.choices[0]!)).toEqual({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'look_up', arguments: '{"word":"x"}' } }],
  });
});

test('several choices stay separate in whatever order they arrive', () => {
  const answer = read(
    chunkOf({ content: 'b' }, {}, 1),
    chunkOf({ content: 'a' }, {}, 0),
    chunkOf({ reasoning: 'hm' }, {}, 1),
  );
  expect(answer.choices.map(({ content, reasoning }) => [content, reasoning])).toEqual([
    ['a', ''],
    ['b', 'hm'],
  ]);
});

test('a failure in the stream is an error in the server’s words', () => {
  expect(() => read({ error: { message: 'The engine died.' } })).toThrow('The engine died.');
});
