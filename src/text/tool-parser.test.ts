import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { findToolSyntax, HERMES, LLAMA3, type ToolSyntax } from './tool-parser.ts';

/** Content and calls of an answer that comes in pieces. */
function parse(syntax: ToolSyntax, pieces: readonly string[]) {
  const parser = syntax.createParser();
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
  // Broken after the name: the call stands as far as it came, the rest is content, and later calls are still read.
  ['<tool_call>{"name": "f", "arguments": {"a": 1}</tool_call>Done.', 'Done.', [['f', '{"a": 1}']]],
  [`<tool_call>{"name": "f", "arguments": {"a": [1</tool_call>${call(weather)}`, '', [['f', '{"a": [1'], ['weather', args]]],
  ['<tool_call>{"name": "f", oops}</tool_call>', 'oops}', [['f', '']]],
  ['<tool_call>{"name": "f", "arguments": 5</tool_call>', '', [['f', '5']]],
  [call('{"name": "f", "arguments": {}}}'), '}', [['f', '{}']]],
  // Tags that are missing, cut off or stray.
  [`<tool_call>${weather}\nI called it.`, '\nI called it.', [['weather', args]]],
  [`<tool_call>${weather}\n<tool_call>${weather}`, '', [['weather', args], ['weather', args]]],
  [`<tool_call>${weather}\n</tool_c`, '', [['weather', args]]],
  [`${call(weather)} and </tool_call>\n`, ' and </tool_call>\n', [['weather', args]]],
  [`<tool_call> oops ${call(weather)}`, '<tool_call> oops', [['weather', args]]],
  // Values other than an object.
  [call('{"name": "f", "arguments": ""}'), '', [['f', '{}']]],
  [call('{"name": "", "arguments": {}}'), call('{"name": "", "arguments": {}}'), []],
  [call('{"name": "f", "arguments": {}, "parameters": {"a": 1}, "name": "g"}'), '', [['f', '{}']]],
  [call('{"id": "\\q \\"", "name": "f\\u00e9", "arguments": {}}'), '', [['fé', '{}']]],
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
  ['{"name": "Ada", "born": 1815}', '{"name": "Ada", "born": 1815}', []],
  ['{"name": "Ada", "bor', '{"name": "Ada", "bor', []],
  ['<|python_tag|>{"name": "now"}', '', [['now', '{}']]],
  [`<|python_tag|>${llama}<|python_tag|>${llama}`, '', [['weather', args], ['weather', args]]],
  ['<|python_tag|>search.call(query="x")', '<|python_tag|>search.call(query="x")', []],
  [`${llama}; {"answer": 42} ${llama}`, `; {"answer": 42} ${llama}`, [['weather', args]]],
  ['{"name": "f", "parameters": {"a": 1}, oops', 'oops', [['f', '{"a": 1}']]],
]; // prettier-ignore

/** What goes wrong in answers, in any order. */
const FRAGMENTS = [
  '<tool_call>', '</tool_call>', '<tool_', '<|python_tag|>', '<', ' ', '\n', ';', ',', '{', '}', '"', '\\', 'hi', 'null',
  '{"name": "f", ', '"arguments": ', '"parameters": ', '{"a": "</tool_call>"}', '"{\\"a\\": 1}"', weather, llama, '{"name": "f"}',
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

test.each([HERMES, LLAMA3])('$name: no answer, however broken, depends on where it is split', (syntax) => {
  const answers = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 10 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(answers, fc.nat(200), fc.nat(200), (text, a, b) => {
      const whole = parse(syntax, [text]);
      const [first, second] = [a % (text.length + 1), b % (text.length + 1)].sort((x, y) => x - y) as [number, number];
      expect(parse(syntax, [text.slice(0, first), text.slice(first, second), text.slice(second)])).toEqual(whole);
      expect(parse(syntax, text.split(''))).toEqual(whole);
      if (whole.calls.length === 0) expect(whole.content).toBe(text);
    }),
    { seed: 1, numRuns: 3000 },
  );
});

test.each([
  ['hermes', (name: string, json: string) => call(`{"name": ${name}, "arguments": ${json}}`)],
  ['llama3', (name: string, json: string) => `{"name": ${name}, "parameters": ${json}}`],
] as const)('%s: any arguments in JSON come out as they were written', (syntaxName, write) => {
  const syntax = syntaxName === 'hermes' ? HERMES : LLAMA3;
  const name = fc.string({ minLength: 1 });
  const values = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(fc.array(fc.tuple(name, values), { minLength: 1, maxLength: 3 }), fc.boolean(), (calls, indent) => {
      const written = calls.map(([f, value]): [string, string] => [f, JSON.stringify(value, null, indent ? 2 : 0)]);
      const text = written.map(([f, json]) => write(JSON.stringify(f), json)).join('\n');
      expect(parse(syntax, [text])).toEqual({ content: '', calls: written });
    }),
    { seed: 1, numRuns: 300 },
  );
});

test('text behind a call whose closing tag is missing is not waited for', () => {
  const parser = HERMES.createParser();
  parser.push(`<tool_call>${weather}`);
  expect(parser.push('\nI called')).toEqual([{ kind: 'content', text: '\nI called' }]);
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
  // Qwen3-Coder's and GLM-4.5's calls have the same tags, and XML inside.
  expect(findToolSyntax("{{ '<tool_call>\\n<function=' + call.name + '>' }}")).toBeNull();
  expect(findToolSyntax("{{ '<tool_call>' + call.name + '<arg_key>' }}")).toBeNull();
  expect(findToolSyntax('<|start_header_id|>{{ "as {\\"name\\": …, \\"parameters\\": …}" }}')?.name).toBe('llama3');
});
