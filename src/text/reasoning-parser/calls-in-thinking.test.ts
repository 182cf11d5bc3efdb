import { expect, test } from 'vitest';
import { THINK } from '../reasoning-parser.ts';
import { HERMES, QWEN3_CODER, type ToolSyntax } from '../tool-parser.ts';
import { createCallsInThinking } from './calls-in-thinking.ts';

const call = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';
const xml = '<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>';

function read(pieces: readonly string[], isStopped: boolean, syntax: ToolSyntax = HERMES) {
  const newParser = () => syntax.createParser([]);
  const parser = createCallsInThinking(THINK.createParser('open'), { opens: syntax.opens, newParser });
  const parts = [...pieces.map((piece) => parser.push(piece)), parser.flush(isStopped)];
  return [parts.map((part) => part.reasoning).join(''), parts.map((part) => part.content).join('')];
}

test.each<[answer: string, reasoning: string, content: string, syntax?: ToolSyntax]>([
  [`so\n\n${call}`, 'so', call],
  [call, '', call],
  [`so ${call}\n${call}\n`, 'so', `${call}\n${call}`],
  [`so ${call}\n</think>\n\n`, 'so', call],
  [`so ${call} and\n${call}`, `so ${call} and`, call],
  [`so <tool_call> then ${call}`, 'so <tool_call> then', call],
  [`so\n${xml}`, 'so', xml, QWEN3_CODER],
  // Reasoning about calls.
  [`so ${call}</think>\n\nYes.`, `so ${call}`, 'Yes.'],
  [`so ${call}</think>\n\n${call}`, `so ${call}`, call],
  [`so ${call} and`, `so ${call} and`, ''],
  ['so <tool_call>\n{"name": "f"', 'so <tool_call>\n{"name": "f"', ''],
  ['so <tool', 'so <tool', ''],
  [`so \n${'<tool_call>'.repeat(60)}${call}`, `so \n${'<tool_call>'.repeat(60)}${call}`, ''],
])('%j is reasoning %j and answer %j, however it is split', (answer, reasoning, content, syntax) => {
  expect(read([answer], true, syntax)).toEqual([reasoning, content]);
  expect(read([...answer], true, syntax)).toEqual([reasoning, content]);
});

test('what was cut off inside the reasoning is reasoning', () => {
  expect(read([`so\n\n${call}`], false)).toEqual([`so\n\n${call}`, '']);
});

test('reasoning without a call is not held back', () => {
  const parser = createCallsInThinking(THINK.createParser('open'), {
    opens: HERMES.opens,
    newParser: () => HERMES.createParser([]),
  });
  expect(parser.push('so it')).toEqual({ reasoning: 'so it', content: '' });
  expect(parser.push(` is ${call} or`)).toEqual({ reasoning: ` is ${call} or`, content: '' });
});
