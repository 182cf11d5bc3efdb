import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { findToolSyntax, HERMES, LLAMA3, type ToolSyntax } from './tool-parser.ts';

/** Content and calls of an answer that comes in pieces; `began` is how often each call was announced. */
function parse({ createParser }: ToolSyntax, pieces: readonly string[]) {
  const parser = createParser();
  let content = '';
  const calls: [name: string, args: string][] = [];
  for (const delta of [...pieces.flatMap((piece) => parser.push(piece)), ...parser.flush()]) {
    if (delta.kind === 'content') content += delta.text;
    else if (delta.kind === 'call') calls[delta.index] = [delta.name, ''];
    else calls[delta.index]![1] += delta.text;
  }
  return { content, calls };
}

const call = (json: string) => `<tool_call>\n${json}\n</tool_call>`;
const weather = '{"name": "weather", "arguments": {"city": "Bonn", "days": [1, 2]}}';
const args = '{"city": "Bonn", "days": [1, 2]}';

type Case = [text: string, content: string, calls: [string, string][]];

const HERMES_CASES: Case[] = [
  ['Hello there.\n', 'Hello there.\n', []],
  [call(weather), '', [['weather', args]]],
  [`Let me look.\n${call(weather)}`, 'Let me look.', [['weather', args]]],
  [`${call(weather)}\n${call('{"name":"now"}')}\n`, '', [['weather', args], ['now', '{}']]],
  [`${call(weather)}\nDone.`, '\nDone.', [['weather', args]]],
  [call('{"arguments": {"a": 1}, "name": "f"}'), '', [['f', '{"a": 1}']]],
  [call('{"name": "f", "arguments": "{\\"a\\": 1}"}'), '', [['f', '{"a": 1}']]],
  [call('{"name": "f", "arguments": {"tag": "</tool_call> \\" }"}}'), '', [['f', '{"tag": "</tool_call> \\" }"}']]],
  [call('{"name": "f", "arguments": null}'), '', [['f', 'null']]],
  [call('not json'), call('not json'), []],
  [call('{"city": "Bonn"}'), call('{"city": "Bonn"}'), []],
  ['a < b <tool', 'a < b <tool', []],
  ['<tool_call>\n{"name": "f", "argum', '', [['f', '']]],
  ['<tool_call>\n{"nam', '<tool_call>\n{"nam', []],
]; // prettier-ignore

const llama = '{"name": "weather", "parameters": {"city": "Bonn", "days": [1, 2]}}';

const LLAMA3_CASES: Case[] = [
  ['Hello {there}', 'Hello {there}', []],
  [llama, '', [['weather', args]]],
  [`<|python_tag|>${llama}`, '', [['weather', args]]],
  [` ${llama}; ${llama}`, '', [['weather', args], ['weather', args]]],
  [`${llama}\n`, '', [['weather', args]]],
  ['{"answer": 42}', '{"answer": 42}', []],
  ['{oops', '{oops', []],
  ['<|python', '<|python', []],
  [`${llama} and more`, ' and more', [['weather', args]]],
]; // prettier-ignore

describe.each([
  [HERMES, HERMES_CASES],
  [LLAMA3, LLAMA3_CASES],
] as const)('$name', (syntax, cases) => {
  test.each(cases)('%j is content %j and calls %j, however it is split', (text, content, calls) => {
    expect(parse(syntax, [text])).toEqual({ content, calls });
    expect(parse(syntax, [...text])).toEqual({ content, calls });
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 10 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
        expect(parse(syntax, pieces)).toEqual({ content, calls });
      }),
      { seed: 1, numRuns: 60 },
    );
  });
});

test('the name is told before the arguments are complete, and these as they come', () => {
  const parser = HERMES.createParser();
  expect(parser.push('<tool_call>{"name": "f", "arguments": {"a"')).toEqual([
    { kind: 'call', index: 0, name: 'f' },
    { kind: 'arguments', index: 0, text: '{"a"' },
  ]);
  expect(parser.push(': 1')).toEqual([{ kind: 'arguments', index: 0, text: ': 1' }]);
});

test('a chat template says which syntax its model writes', () => {
  const template = (path: string) => findToolSyntax(readFileSync(path, 'utf8'));
  expect(template('python/golden/chat_templates/qwen.jinja')?.name).toBe('hermes');
  expect(template('python/golden/chat_templates/llama3.jinja')?.name).toBe('llama3');
  expect(template('scripts/starter/chat-template.jinja')?.name).toBe('hermes');
  expect(findToolSyntax('{{ messages[0].content }}')).toBeNull();
});
