import { expect, test } from 'vitest';
import fc from 'fast-check';
import { REASONING_PARSER_NAMES } from '#domain/answer-parsers';
import {
  findReasoningSyntax,
  GRANITE_THOUGHT,
  HARMONY_ANALYSIS,
  MISTRAL_THINK,
  reasoningSyntaxNamed,
  THINK,
  thinkingInPrompt,
  type ReasoningSyntax,
} from './reasoning-parser.ts';
import type { ThinkingState } from './reasoning-parser/reasoned-text.ts';

const syntax = THINK;

function parse(pieces: readonly string[], state: ThinkingState, read: ReasoningSyntax = syntax) {
  const parser = read.createParser(state);
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
  ['closed', '<think>yet</think>Yes.', 'yet', 'Yes.'],
  ['closed', '\n\nYes, <think> is a tag.', '', 'Yes, <think> is a tag.'],
  ['open', 'because</think>\n</think>\n\nYes.', 'because', 'Yes.'],
  ['open', 'because</think>Yes.</think>', 'because', 'Yes.</think>'],
  ['unsaid', ' \n</think>\nYes.', '', 'Yes.'],
  ['closed', '\n</think>\n\nYes.', '', 'Yes.'],
  ['unsaid', 'because</think>Yes.', '', 'because</think>Yes.'],
] as const)('%s: %j is reasoning %j and answer %j, however it is split', (state, text, reasoning, content) => {
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

const call = '<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>';

const OTHERS: readonly (readonly [ReasoningSyntax, text: string, reasoning: string, content: string])[] = [
  [MISTRAL_THINK, '[THINK]because[/THINK]Yes.', 'because', 'Yes.'],
  [MISTRAL_THINK, 'Yes.', '', 'Yes.'],
  [GRANITE_THOUGHT, 'Here is my thought process:\nso\n\nHere is my response: Yes.', 'so', 'Yes.'],
  [GRANITE_THOUGHT, "Here's my thought process: so. Here's my response:\n\nYes.\n", 'so.', 'Yes.\n'],
  [GRANITE_THOUGHT, 'Here is my thoughtful answer.', '', 'Here is my thoughtful answer.'],
  [GRANITE_THOUGHT, 'Here is my thought process: so', 'so', ''],
  [GRANITE_THOUGHT, '<think>so</think><response>Yes.</response>', 'so', 'Yes.'],
  [GRANITE_THOUGHT, '<think>\nso\n</think>\n<response>Yes, a </b> tag', 'so', 'Yes, a </b> tag'],
  [GRANITE_THOUGHT, '<response>Yes.</response> And no </response>.', '', 'Yes. And no </response>.'],
  [GRANITE_THOUGHT, 'Say <response>.', '', 'Say <response>.'],
  [reasoningSyntaxNamed('deepseek_r1')!, 'because</think>\n\nYes.', 'because', 'Yes.'],
  [reasoningSyntaxNamed('gemma4')!, '<|channel>thought\nbecause\n<channel|>Yes.', 'because', 'Yes.'],
  [
    HARMONY_ANALYSIS,
    '<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>final<|message|>Yes.',
    'so',
    'Yes.',
  ],
  [
    HARMONY_ANALYSIS,
    '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|><|channel|>final<|message|>Y<|return|>',
    'a\nb',
    'Y',
  ],
  [
    HARMONY_ANALYSIS,
    `<|channel|>analysis<|message|>so<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|>${call}`,
    'so',
    `I look.${call}`,
  ],
  [
    HARMONY_ANALYSIS,
    ' to=functions.f<|channel|>commentary json<|message|>{}<|call|>',
    '',
    ' to=functions.f<|channel|>commentary json<|message|>{}<|call|>',
  ],
  [HARMONY_ANALYSIS, '{"answer": 1}', '', '{"answer": 1}'],
  [
    HARMONY_ANALYSIS,
    '<|channel|>analysis so I write<|message|>Yes.',
    '',
    '<|channel|>analysis so I write<|message|>Yes.',
  ],
  [HARMONY_ANALYSIS, '<|channel|>analysis', '', '<|channel|>analysis'],
  [HARMONY_ANALYSIS, '<|channel|>analysis<|message|>cut of', 'cut of', ''],
];

test.each(OTHERS.map(([read, ...rest]) => [read.name, read, ...rest] as const))(
  '%s: %j is thinking and answer, however it is split',
  (_, read, text, reasoning, content) => {
    expect(parse([text], 'unsaid', read)).toEqual([reasoning, content]);
    expect(parse(text.split(''), 'unsaid', read)).toEqual([reasoning, content]);
  },
);

test.each(REASONING_PARSER_NAMES.filter((name) => name !== 'none'))('%s: no answer depends on its pieces', (name) => {
  const read = reasoningSyntaxNamed(name)!;
  const fragment = fc.constantFrom(
    ...read.markers,
    'analysis',
    'final',
    'commentary',
    ' to=functions.f',
    'Here',
    'x'.repeat(290),
    '\n',
    ' ',
    'a',
    '<',
    '<|',
    '[',
  );
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 12 }), fc.nat(100), (fragments, cut) => {
      const text = fragments.join('');
      const whole = parse([text], 'unsaid', read);
      expect(parse([text.slice(0, cut), text.slice(cut)], 'unsaid', read)).toEqual(whole);
      expect(parse(text.split(''), 'unsaid', read)).toEqual(whole);
    }),
    { seed: 1, numRuns: 1000 },
  );
});

test('a chat template says how its model thinks', () => {
  const found = (template: string) => findReasoningSyntax(template)?.name;
  expect(found("{{ '[THINK]' + thought + '[/THINK]' }}")).toBe('mistral');
  expect(found("{{ '<|start|>assistant<|channel|>analysis<|message|>' }}")).toBe('openai_gptoss');
  expect(found('Think between <think></think>, answer between <response></response>.')).toBe('granite');
  expect(found('Write "Here is my thought process:" before you answer.')).toBe('granite');
});

test('a parser says whether the next token belongs to the reasoning', () => {
  const parser = syntax.createParser('open');
  expect(parser.thinking).toBe(true);
  parser.push('a</thi');
  expect(parser.thinking).toBe(true);
  parser.push('nk>b');
  expect(parser.thinking).toBe(false);
});

test('the end of the prompt decides whether reasoning has begun', () => {
  expect(thinkingInPrompt('<|im_start|>assistant\n<think>\n', syntax)).toBe('open');
  expect(thinkingInPrompt('<|im_start|>assistant\n<think>\n\n</think>\n\n', syntax)).toBe('closed');
  expect(thinkingInPrompt('<think>earlier</think> hello<|im_start|>assistant\n', syntax)).toBe('unsaid');
  expect(findReasoningSyntax('{{ messages }}')).toBeNull();
  expect(findReasoningSyntax("{{ '<think></think>' }}")).toEqual(syntax);
});
