// What a tokenizer.json has and GGUF has not, as llama.cpp supplies it; test/engine/golden/gguf-tokenizer.test.ts compares ids.
import { expect, test } from 'vitest';
import type { GgufValue } from './gguf-header.ts';
import { tokenizerOf, TOKEN_TYPE } from './gguf-tokenizer.ts';
import { readMetadata } from './metadata.ts';

const { normal, unknown, control, userDefined } = TOKEN_TYPE;
const TOKENS: readonly (readonly [token: string, type: number])[] = [
  ['<unk>', unknown],
  ['<s>', control],
  ['</s>', userDefined],
  ['▁a', normal],
  ['<|endoftext|>', control],
  ['<|user|>', control],
  ['<|end|>', control],
];

const made = (architecture: string, more: Readonly<Record<string, GgufValue>> = {}) =>
  tokenizerOf(
    readMetadata(
      new Map<string, GgufValue>([
        ['general.architecture', architecture],
        ['tokenizer.ggml.model', 'llama'],
        ['tokenizer.ggml.tokens', TOKENS.map(([token]) => token)],
        ['tokenizer.ggml.token_type', TOKENS.map(([, type]) => type)],
        ['tokenizer.ggml.scores', TOKENS.map((_, id) => -id)],
        ...Object.entries(more),
      ]),
      'model.gguf',
    ),
  );

test('the special tokens of Phi-3 take the white space behind them, those of others do not', () => {
  const taking = (architecture: string) =>
    (made(architecture).tokenizer['added_tokens'] as { content: string; rstrip: boolean }[])
      .filter(({ rstrip }) => rstrip)
      .map(({ content }) => content);
  expect(taking('phi3')).toEqual(['</s>', '<|user|>', '<|end|>']);
  expect(taking('llama')).toEqual([]);
});

test('the makers’ sampling is that of the file, without the noise of its floats', () => {
  const { generationConfig } = made('llama', {
    'general.sampling.temp': Math.fround(0.7),
    'general.sampling.top_k': 20,
    'general.sampling.penalty_repeat': Math.fround(1.05),
  });
  expect(generationConfig).toMatchObject({ temperature: 0.7, top_k: 20, repetition_penalty: 1.05 });
});
