import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import {
  FUNCTION_GEMMA,
  GEMMA4,
  GRANITE,
  HARMONY,
  HERMES,
  LLAMA3,
  MISTRAL,
  PHI4,
  PYTHONIC,
  QWEN3_CODER,
  TOOL_CODE,
  type ToolSyntax,
} from './tool-parser.ts';

/** The types of parameters for syntaxes that do not mark them. */
const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'array', items: { type: 'integer' } },
    count: { type: 'integer' },
    ok: { type: 'boolean' },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
};
const TOOLS = ['weather', 'f'].map((name) => ({ type: 'function', function: { name, parameters } }));

/** Content and calls of an answer that arrives in pieces. */
function parse(syntax: ToolSyntax, pieces: readonly string[], isStopped = false, isCertain = false) {
  const parser = syntax.createParser(TOOLS, isCertain);
  let content = '';
  const calls: [name: string, args: string][] = [];
  for (const delta of [...pieces.flatMap((piece) => parser.push(piece)), ...parser.flush(isStopped)]) {
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
  // No JSON: content as a whole. Later calls are still read.
  ['<tool_call>{"name": "f", "arguments": {"a": 1}</tool_call>Done.', '<tool_call>{"name": "f", "arguments": {"a": 1}</tool_call>Done.', []],
  [`<tool_call>{"name": "f", "arguments": {"a": [1</tool_call>${call(weather)}`, '<tool_call>{"name": "f", "arguments": {"a": [1</tool_call>', [['weather', args]]],
  ['<tool_call>{"name": "f", oops}</tool_call>', '<tool_call>{"name": "f", oops}</tool_call>', []],
  ['<tool_call>{"name": "f", "arguments": 5</tool_call>', '<tool_call>{"name": "f", "arguments": 5</tool_call>', []],
  [call('{"name": "f", "arguments": {"a": oops}}'), call('{"name": "f", "arguments": {"a": oops}}'), []],
  [call('{"name": "f", "arguments": {"a": 1,}}'), call('{"name": "f", "arguments": {"a": 1,}}'), []],
  [call('{"name": "f", "arguments": {a: 1}}'), call('{"name": "f", "arguments": {a: 1}}'), []],
  [call('{"name": "f", "arguments": {"a": "x\ny"}}'), call('{"name": "f", "arguments": {"a": "x\ny"}}'), []],
  [call("{'name': 'f', 'arguments': {}}"), call("{'name': 'f', 'arguments': {}}"), []],
  [call('{"name": "f", "arguments": {"a": NaN}}'), call('{"name": "f", "arguments": {"a": NaN}}'), []],
  [call('{"name": "f", "arguments": "oops"}'), call('{"name": "f", "arguments": "oops"}'), []],
  [call('{"name": "f", "arguments": {}}}'), '}', [['f', '{}']]],
  // Tags that are missing, cut off or stray.
  [`<tool_call>${weather}\nI called it.`, '\nI called it.', [['weather', args]]],
  [`<tool_call>${weather}\n<tool_call>${weather}`, '', [['weather', args], ['weather', args]]],
  [`${call(weather)}</tool_call>\n</tool_call>`, '', [['weather', args]]],
  [`${call(weather)}\n</tool_call> and </tool_call>`, ' and </tool_call>', [['weather', args]]],
  [`<tool_call>${weather}\n</tool_c`, '', [['weather', args]]],
  [`${call(weather)} and </tool_call>\n`, ' and </tool_call>\n', [['weather', args]]],
  [`<tool_call> oops ${call(weather)}`, '<tool_call> oops', [['weather', args]]],
  // Values other than an object.
  [call('{"name": "f", "arguments": ""}'), '', [['f', '{}']]],
  [call('{"name": "f", "arguments": " \\n"}'), '', [['f', '{}']]],
  [call('{"name": "", "arguments": {}}'), call('{"name": "", "arguments": {}}'), []],
  // What is said twice, or under a key that no call has, would be lost.
  ...['"arguments": {}, "parameters": {"a": 1}', '"arguments": {}, "arguments": {"a": 1}', '"arguments": {}, "name": "g"', '"input": {"a": 1}', '"args": {"a": 1}, "id": "x"', '"input": {"a'].map((rest): Case => [call(`{"name": "f", ${rest}}`), call(`{"name": "f", ${rest}}`), []]),
  ['<tool_call>{"name": "f", "input": {"a', '<tool_call>{"name": "f", "input": {"a', []],
  [call('{"id": "x", "type": "function", "name": "now"}'), '', [['now', '{}']]],
  [call('{"thought": "so", "name": "f", "arguments": {"a": 1}}'), '', [['f', '{"a": 1}']]],
  ['<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"b\\', '', [['f', '{"a": "b']]],
  [call('{"id": "q \\"", "name": "f\\u00e9", "arguments": {"a": "\\ud83d\\ude00"}}'), '', [['fé', '{"a": "\\ud83d\\ude00"}']]],
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
  ['{"name": "f", "parameters": {"a": 1}, oops', '{"name": "f", "parameters": {"a": 1}, oops', []],
]; // prettier-ignore

const MISTRAL_CASES: Case[] = [
  ['Hello there.\n', 'Hello there.\n', []],
  [`[TOOL_CALLS] [${weather}]`, '', [['weather', args]]],
  [`[TOOL_CALLS][${weather}, {"name": "now", "arguments": {}, "id": "abcdefghi"}]`, '', [['weather', args], ['now', '{}']]],
  [`I will look. [TOOL_CALLS] [${weather}] Done.`, 'I will look. Done.', [['weather', args]]],
  [`[TOOL_CALLS]${weather}`, '', [['weather', args]]],
  [`[TOOL_CALLS]weather[ARGS]${args}`, '', [['weather', args]]],
  [`[TOOL_CALLS]weather${args}[TOOL_CALLS]now{}`, '', [['weather', args], ['now', '{}']]],
  [`Sure.[TOOL_CALLS]weather[CALL_ID]abcdefghi[ARGS]${args}\n[TOOL_CALLS]now[ARGS]{}`, 'Sure.', [['weather', args], ['now', '{}']]],
  ['[TOOL_CALLS]f[ARGS]{"a": "[TOOL_CALLS] } \\" ]"}', '', [['f', '{"a": "[TOOL_CALLS] } \\" ]"}']]],
  ['[TOOL_CALLS]f[ARGS]{"a": ', '', [['f', '{"a": ']]],
  ['[TOOL_CALLS]f[ARGS]', '[TOOL_CALLS]f[ARGS]', []],
  ['[TOOL_CALLS] are how I call tools.', '[TOOL_CALLS] are how I call tools.', []],
  [`[TOOL_CALLS] f [ARGS] ${args}`, '', [['f', args]]],
  [`[TOOL_CALLS] [TOOL_CALLS]f[ARGS]${args}`, '[TOOL_CALLS]', [['f', args]]],
  ['[TOOL_CALLS] [TOOL', '[TOOL_CALLS] [TOOL', []],
  ['[TOOL_CALLS] [{"nam', '[TOOL_CALLS] [{"nam', []],
  ['[TOOL_CALLS] []', '[TOOL_CALLS] []', []],
  [`[TOOL_CALLS] [${weather}, oops]`, `[TOOL_CALLS] [${weather}, oops]`, []],
  [`[TOOL_CALLS] [${weather} oops]`, `[TOOL_CALLS] [${weather} oops]`, []],
  ['[TOOL_CALLS]f[ARGS]{"a": oops}', '[TOOL_CALLS]f[ARGS]{"a": oops}', []],
  [`[TOOL_CALLS] [${weather}, `, '', [['weather', args]]],
]; // prettier-ignore

const PYTHONIC_CASES: Case[] = [
  ['[weather(city="Bonn", days=[1, 2])]', '', [['weather', args]]],
  ["[weather(city='Bonn', days=(1, 2)), now()]", '', [['weather', args], ['now', '{}']]],
  ['<|python_start|>[now()]<|python_end|>', '', [['now', '{}']]],
  ['<|python_tag|> [now(), get.time-2()]\n', '', [['now', '{}'], ['get.time-2', '{}']]],
  ['[f(a=True, b=None, c={"x": -1.5e3, 2: {}}, d=[], e=1_000,)]', '', [['f', '{"a": true, "b": null, "c": {"x": -1.5e3, "2": {}}, "d": [], "e": 1000}']]],
  ['[f(a=.5, b=1., c=+2, d=0x1f, e=false)]', '', [['f', '{"a": 0.5, "b": 1.0, "c": 2, "d": 31, "e": false}']]],
  ['[f(d=007)]', '[f(d=007)]', []],
  ['[\n  f(a=1),\n  now(),\n]\n', '', [['f', '{"a": 1}'], ['now', '{}']]],
  ['[f(a=1), , now()]', '[f(a=1), , now()]', []],
  [`[f(a='it\\'s "so"', b="tab\\t \\u00e9 \\q")]`, '', [['f', '{"a": "it\'s \\"so\\"", "b": "tab\\t é \\\\q"}']]],
  ['[f(a="""two\nlines "quoted" """, b="")]', '', [['f', '{"a": "two\\nlines \\"quoted\\" ", "b": ""}']]],
  ['[f(a="ünï 😀")]', '', [['f', '{"a": "ünï 😀"}']]],
  ['[f(a=")], g(b=1)")]', '', [['f', '{"a": ")], g(b=1)"}']]],
  ['Hello [there](x)', 'Hello [there](x)', []],
  ['[1] A footnote.', '[1] A footnote.', []],
  ['[f(x)]', '[f(x)]', []],
  ['[see f(a==1)]', '[see f(a==1)]', []],
  ['[]', '[]', []],
  ['[f(', '[f(', []],
  ['[f(a="x', '', [['f', '{"a": "x']]],
  ['[f(a=1), g(x)] and so on', '[f(a=1), g(x)] and so on', []],
  ['[f(a=1)] and so on', ' and so on', [['f', '{"a": 1}']]],
  ['[f(a=foo)]', '[f(a=foo)]', []],
  ['[f(a=1), g(b="x', '', [['f', '{"a": 1}'], ['g', '{"b": "x']]],
]; // prettier-ignore

const PHI4_CASES: Case[] = [
  ['Hello.', 'Hello.', []],
  [`<|tool_call|>[${weather}]<|/tool_call|>`, '', [['weather', args]]],
  [`<|tool_call|>${weather}<|/tool_call|><|tool_call|>${weather}<|/tool_call|>`, '', [['weather', args], ['weather', args]]],
  [`functools[${weather}, {"name": "now", "arguments": {}}]`, '', [['weather', args], ['now', '{}']]],
  ['from functools import wraps', 'from functools import wraps', []],
  ['<|tool_call|>[1, 2]<|/tool_call|>', '<|tool_call|>[1, 2]<|/tool_call|>', []],
]; // prettier-ignore

const GRANITE_CASES: Case[] = [
  ['Hello.', 'Hello.', []],
  [`<|tool_call|>[${weather}, ${weather}]`, '', [['weather', args], ['weather', args]]],
  [`<tool_call> [${weather}]`, '', [['weather', args]]],
  [` [${weather}]`, '', [['weather', args]]],
  ['[1, 2]', '[1, 2]', []],
  ['[{"name": "Ada"}]', '[{"name": "Ada"}]', []],
  [`Well. <|tool_call|>[${weather}]`, 'Well.', [['weather', args]]],
]; // prettier-ignore

const HARMONY_CASES: Case[] = [
  ['Hello.', 'Hello.', []],
  [`<|channel|>commentary to=functions.weather <|constrain|>json<|message|>${args}`, '', [['weather', args]]],
  [`<|start|>assistant<|channel|>commentary to=functions.weather<|message|>${args}<|call|>`, '', [['weather', args]]],
  [`<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>\n<|start|>assistant to=functions.g<|channel|>commentary <|constrain|>json<|message|><|call|>`, '', [['f', '{}'], ['g', '{}']]],
  [` to=functions.weather<|channel|>commentary <|constrain|>json<|message|>${args}\n<|call|>`, '', [['weather', args]]],
  [`Let me look.<|channel|>commentary to=functions.weather<|message|>${args}`, 'Let me look.', [['weather', args]]],
  ['<|channel|>commentary to=browser.open<|message|>{}<|call|>', '<|channel|>commentary to=browser.open<|message|>{}<|call|>', []],
  [` to=weather<|channel|>commentary <|constrain|>json<|message|>${args}<|call|>`, '', [['weather', args]]],
  ['<Link to="/a"> and x to=y z.\nYes.', '<Link to="/a"> and x to=y z.\nYes.', []],
  ['I write to=functions.f in a sentence.\nYes.', 'I write to=functions.f in a sentence.\nYes.', []],
  [`I write to=f.<|start|>assistant<|channel|>commentary to=f<|message|>${args}`, 'I write to=f.', [['f', args]]],
  [` to=f is mine.<|start|>assistant<|channel|>commentary to=f<|message|>${args}`, ' to=f is mine.', [['f', args]]],
  [` to=f is mine<|channel|>commentary to=f<|message|>${args}`, ' to=f is mine', [['f', args]]],
]; // prettier-ignore

const xml = (name: string, ...parameters: string[]) =>
  `<tool_call>\n<function=${name}>\n${parameters.join('')}</function>\n</tool_call>`;
const parameter = (key: string, value: string) => `<parameter=${key}>\n${value}\n</parameter>\n`;

const QWEN3_CODER_CASES: Case[] = [
  ['a < b <function', 'a < b <function', []],
  [xml('weather', parameter('city', 'Bonn'), parameter('days', '[1, 2]')), '', [['weather', args]]],
  [`I look.\n${xml('now')}\n${xml('f', parameter('count', '3'))}`, 'I look.', [['now', '{}'], ['f', '{"count": 3}']]],
  [xml('f', parameter('city', '3'), parameter('ok', 'True'), parameter('note', 'null')), '', [['f', '{"city": "3", "ok": true, "note": null}']]],
  [xml('f', parameter('note', 'nullable'), parameter('count', 'many')), '', [['f', '{"note": "nullable", "count": "many"}']]],
  [xml('f', parameter('days', "[1, {'a': None}]"), parameter('city', 'null')), '', [['f', '{"days": [1, {"a": null}], "city": "null"}']]],
  [xml('f', parameter('city', 'if (a < b) {\n  "x"\n}\n')), '', [['f', '{"city": "if (a < b) {\\n  \\"x\\"\\n}\\n"}']]],
  [xml('g', parameter('anything', '5')), '', [['g', '{"anything": "5"}']]],
  [xml('f', parameter('city', '')), '', [['f', '{"city": ""}']]],
  ['<function=f>\n<parameter=count>1</parameter></function>', '', [['f', '{"count": 1}']]],
  ['<tool_call><function=f><parameter=city>x<parameter=count>2</function></tool_call> So.', ' So.', [['f', '{"city": "x", "count": 2}']]],
  ['<tool_call>\n<function=f>\n<parameter=city>\nBo', '', [['f', '{"city": "Bo']]],
  ['<tool_call>\n<function=f>\noops', '<tool_call>\n<function=f>\noops', []],
  ['<tool_call>\n{"name": "f"}\n</tool_call>', '<tool_call>\n{"name": "f"}\n</tool_call>', []],
  ['<tool_call>\n<function=see here>', '<tool_call>\n<function=see here>', []],
  ['<tool_call>\n<function= f >\n<parameter= city >\nx\n</parameter>\n</function>\n</tool_call>', '', [['f', '{"city": "x"}']]],
  ['<tool_call>\n<function=f>\n</function>\n</function>\n</tool_call>', '', [['f', '{}']]],
  ['<tool_call>\n<function=f>\n<parameter=count>\n1\n</parameter>\n</parameter>\n</function>\n</tool_call>', '', [['f', '{"count": 1}']]],
  ['<tool_call>\n<function=f>\n<parameter=count>\n1', '', [['f', '{"count": 1']]],
  ['<tool_call>\n<function=f>\n<parameter=note>\nsaid "x', '', [['f', '{"note": "said \\"x']]],
]; // prettier-ignore

const gemmaCases = (open: string, close: string, q: string): Case[] => [
  ['Hello.', 'Hello.', []],
  [`${open}call:weather{city:${q}Bonn${q},days:[1,2]}${close}`, '', [['weather', args]]],
  [`Look.\n${open}call:now{}${close}${open}call:f{ok:true,x:null,y:{z:${q}a, "b" }${q}}}${close}`, 'Look.', [['now', '{}'], ['f', '{"ok": true, "x": null, "y": {"z": "a, \\"b\\" }"}}']]],
  [`${open}call:f{a:Bonn am Rhein,b:-1.5,c:[x,${q}${q}]}`, '', [['f', '{"a": "Bonn am Rhein", "b": -1.5, "c": ["x", ""]}']]],
  [`${open}call:f{${q}a b${q}:1}${close}`, '', [['f', '{"a b": 1}']]],
  [`${open}call:f{a:${q}Bo`, '', [['f', '{"a": "Bo']]],
  [`${open}call:f{count:${q}ma`, '', [['f', '{"count": "ma']]],
  [`${open}:f{count:1}${close}${open}call: f(a:${q})${q},b:[x],c:y)${close}`, '', [['f', '{"count": 1}'], ['f', '{"a": ")", "b": ["x"], "c": "y"}']]],
  [`${open}: f of x}`, `${open}: f of x}`, []],
  [`${open}calling${close}`, `${open}calling${close}`, []],
  [`${open}call:f{\n${open}call:f{ok:True}${close}`, `${open}call:f{`, [['f', '{"ok": true}']]],
  [`${open}call:f{a:1,}${close}.`, '.', [['f', '{"a": 1}']]],
]; // prettier-ignore

const TOOL_CODE_CASES: Case[] = [
  ['```python\nf(a=1)\n```', '```python\nf(a=1)\n```', []],
  ['```tool_code\nweather(city="Bonn", days=[1, 2])\n```', '', [['weather', args]]],
  ['Look:\n```tool_code\nnow()\nf(a=1)\n```\nDone.', 'Look:\nDone.', [['now', '{}'], ['f', '{"a": 1}']]],
  ['```tool_code\n[now(), f(a=1)]\n```', '', [['now', '{}'], ['f', '{"a": 1}']]],
  ['```tool_code\n[f(a=1)]\n`x ```tool_code\n[now()]\n```', '\n`x', [['f', '{"a": 1}'], ['now', '{}']]],
  ['```tool_code\n[f(a=1)]\n```\n```\nx\n```', '\n```\nx\n```', [['f', '{"a": 1}']]],
  ['```tool_code\nx = 1\n```', '```tool_code\nx = 1\n```', []],
]; // prettier-ignore

/** Typical faults of answers, in any order. */
const FRAGMENTS = [
  '[TOOL_CALLS]', '[ARGS]', '[CALL_ID]', 'f', '[', ']', '(', ')', 'f(a=', "'x'", '"""', '\\u00', '1', 'True', '[f(a="x", b=[1])]',
  '<|tool_call|>', '<|/tool_call|>', 'functools', '<|start|>assistant', '<|channel|>', 'commentary to=functions.f', '<|message|>',
  '<|call|>', ' to=functions.', '<function=f>', '</function>', '<parameter=city>', '<parameter=count>', '</parameter>',
  '<start_function_call>', '<end_function_call>', '<escape>', '<|tool_call>', '<tool_call|>', '<|"|>', 'call:f{', 'a:', '```tool_code\n',
  '```', '<|python_start|>', '<|python_end|>',
  '<tool_call>', '</tool_call>', '<tool_', '<|python_tag|>', '<', ' ', '\n', ';', ',', '{', '}', '"', '\\', 'hi', 'null',
  '{"name": "f", ', '"arguments": ', '"parameters": ', '{"a": "</tool_call>"}', '"{\\"a\\": 1}"', weather, llama, '{"name": "f"}',
]; // prettier-ignore

const CASES: readonly (readonly [ToolSyntax, Case[]])[] = [
  [HERMES, HERMES_CASES],
  [LLAMA3, LLAMA3_CASES],
  [MISTRAL, MISTRAL_CASES],
  [PYTHONIC, PYTHONIC_CASES],
  [PHI4, PHI4_CASES],
  [GRANITE, GRANITE_CASES],
  [HARMONY, HARMONY_CASES],
  [QWEN3_CODER, QWEN3_CODER_CASES],
  [FUNCTION_GEMMA, gemmaCases('<start_function_call>', '<end_function_call>', '<escape>')],
  [GEMMA4, gemmaCases('<|tool_call>', '<tool_call|>', '<|"|>')],
  [TOOL_CODE, TOOL_CODE_CASES],
];

describe.each(CASES)('$name', (syntax, cases) => {
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

test.each(CASES.map(([syntax]) => syntax))(
  '$name: no answer, however broken, depends on where it is split',
  (syntax) => {
    const answers = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 10 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(answers, fc.nat(200), fc.nat(200), (text, a, b) => {
        const whole = parse(syntax, [text]);
        const [first, second] = [a % (text.length + 1), b % (text.length + 1)].sort((x, y) => x - y) as [
          number,
          number,
        ];
        expect(parse(syntax, [text.slice(0, first), text.slice(first, second), text.slice(second)])).toEqual(whole);
        expect(parse(syntax, text.split(''))).toEqual(whole);
        if (whole.calls.length === 0) expect(whole.content).toBe(text);
      }),
      { seed: 1, numRuns: 600 },
    );
  },
);

test.each([
  [HERMES, '<tool_call>{"name": "f", "arguments": {"a": 1', null],
  [HERMES, `${call(weather)}<tool_call>{"name": "f"`, '<tool_call>{"name": "f"'],
  [MISTRAL, `[TOOL_CALLS] [${weather}, `, null],
  [PYTHONIC, '[f(a=1), g(b=', null],
  [LLAMA3, '{"name": "f", "parameters": {', null],
  [GEMMA4, '<|tool_call>call:f{a:', null],
] as const)('%o: %j, which the model ended itself, is content: %j', (syntax, text, content) => {
  expect(parse(syntax, [text], true).content).toBe(content ?? text);
  expect(parse(syntax, text.split(''), true)).toEqual(parse(syntax, [text], true));
});

test('tags that are missing at the end of an answer are assumed', () => {
  const text = '<tool_call>\n<function=f>\n<parameter=count>\n3';
  expect(parse(QWEN3_CODER, [text], true)).toEqual({ content: '', calls: [['f', '{"count": 3}']] });
  expect(parse(HARMONY, [`<|channel|>commentary to=functions.f<|message|>{"a": 1}`], true).calls).toEqual([
    ['f', '{"a": 1}'],
  ]);
});

test.each(CASES.map(([syntax]) => syntax))('$name: however an answer ends, its text is kept or read', (syntax) => {
  const answers = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 10 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(answers, (text) => {
      const whole = parse(syntax, [text], true);
      expect(parse(syntax, text.split(''), true)).toEqual(whole);
      if (whole.calls.length === 0) expect(whole.content).toBe(text);
      for (const [, json] of whole.calls) JSON.parse(json);
      expect(parse(syntax, text.split(''), false, true)).toEqual(parse(syntax, [text], false, true));
    }),
    { seed: 2, numRuns: 400 },
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

test('text after a call whose closing tag is missing is not held back', () => {
  const parser = HERMES.createParser([]);
  parser.push(`<tool_call>${weather}`);
  expect(parser.push('\nI called')).toEqual([{ kind: 'content', text: '\nI called' }]);
});

test('of a forced call, the name arrives before the arguments are complete, and the arguments as they are written', () => {
  const parser = HERMES.createParser([], true);
  expect(parser.push('<tool_call>{"name": "f", "arguments": {"a"')).toEqual([
    { kind: 'call', index: 0, name: 'f' },
    { kind: 'arguments', index: 0, text: '{"a"' },
  ]);
  expect(parser.push(': 1')).toEqual([{ kind: 'arguments', index: 0, text: ': 1' }]);
});
