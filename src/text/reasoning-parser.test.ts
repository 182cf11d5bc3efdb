import { expect, test } from 'vitest';
import fc from 'fast-check';
import {
  createReasoningParser,
  findReasoningSyntax,
  thinkingInPrompt,
  type ThinkingState,
} from './reasoning-parser.ts';

const syntax = { start: '<think>', end: '</think>' };

function parse(pieces: readonly string[], state: ThinkingState) {
  const parser = createReasoningParser(syntax, state);
  const parts = [...pieces.map((piece) => parser.push(piece)), parser.flush()];
  return [parts.map((part) => part.reasoning).join(''), parts.map((part) => part.content).join('')];
}

test.each([
  ['open', 'because\n</think>\n\nYes.', 'because', 'Yes.'],
  ['open', '<think>\nbecause</think>Yes.', 'because', 'Yes.'],
  ['open', 'not finished\n', 'not finished', ''],
  ['open', '\n</think>\n\nYes.', '', 'Yes.'],
  ['unsaid', '<think>\na\n\nb\n</think>\n\nYes.\n', 'a\n\nb', 'Yes.\n'],
  ['unsaid', ' \n<think>a</think>', 'a', ''],
  ['unsaid', 'Yes, <think> is a tag.', '', 'Yes, <think> is a tag.'],
  ['unsaid', '<thi', '', '<thi'],
  ['closed', '<think>no</think>', '', '<think>no</think>'],
] as const)('%s: %j is thinking %j and answer %j, however it is split', (state, text, reasoning, content) => {
  expect(parse([text], state)).toEqual([reasoning, content]);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), text.length];
      const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
      expect(parse(pieces, state)).toEqual([reasoning, content]);
    }),
    { seed: 1, numRuns: 100 },
  );
});

test.each(['open', 'closed', 'unsaid'] as const)('%s: no answer depends on where it is split', (state) => {
  const fragment = fc.constantFrom('<think>', '</think>', '\n', ' ', 'a', '<', '</th', '\t');
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 10 }), fc.nat(60), (fragments, cut) => {
      const text = fragments.join('');
      const whole = parse([text], state);
      expect(parse([text.slice(0, cut), text.slice(cut)], state)).toEqual(whole);
      expect(parse(text.split(''), state)).toEqual(whole);
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test('a parser says whether the next token belongs to the thinking', () => {
  const parser = createReasoningParser(syntax, 'open');
  expect(parser.thinking).toBe(true);
  parser.push('a</thi');
  expect(parser.thinking).toBe(true);
  parser.push('nk>b');
  expect(parser.thinking).toBe(false);
});

test('the end of the prompt says where thinking stands', () => {
  expect(thinkingInPrompt('<|im_start|>assistant\n<think>\n', syntax)).toBe('open');
  expect(thinkingInPrompt('<|im_start|>assistant\n<think>\n\n</think>\n\n', syntax)).toBe('closed');
  expect(thinkingInPrompt('<think>earlier</think> hello<|im_start|>assistant\n', syntax)).toBe('unsaid');
  expect(findReasoningSyntax('{{ messages }}')).toBeNull();
  expect(findReasoningSyntax("{{ '<think></think>' }}")).toEqual(syntax);
});
