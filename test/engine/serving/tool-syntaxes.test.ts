// The constraints that tools impose on an answer in the other syntaxes, and whether what they allow is read back.
import { describe, expect, test } from 'vitest';
import type { Constraint } from '#domain/constraint';
import { toolConstraint } from '#services/chat/tool-constraint';
import { TOOL_PARSER_NAMES, type ToolParserName } from '#domain/answer-parsers';
import { PYTHONIC, QWEN3_CODER, toolSyntaxNamed, type ToolSyntax } from '#text/tool-parser';
import { reach, reachIn, strict, write } from './tool-texts.ts';

describe('in the other syntaxes', () => {
  const MISTRAL_OLDER = '[TOOL_CALLS] [{"name"';
  const json = (city: string) => `{"name": "weather", "arguments": {"city": "${city}"}}`;
  const harmony = (city: string) => `commentary to=functions.weather <|constrain|>json<|message|>{"city": "${city}"}`;
  const xml = (city: string) =>
    `<tool_call>\n<function=weather>\n<parameter=city>\n${city}\n</parameter>\n</function>\n</tool_call>`;
  const rows: readonly [ToolParserName, template: string | null, one: (city: string) => string, between: [string, string, string] | null][] = [
    ['mistral', null, (city) => `[TOOL_CALLS]weather[ARGS]{"city": "${city}"}`, ['', '', '']],
    ['mistral', MISTRAL_OLDER, json, ['[TOOL_CALLS] [', ', ', ']']],
    ['phi4_mini_json', null, json, ['<|tool_call|>[', ', ', ']<|/tool_call|>']],
    ['granite', null, json, ['<|tool_call|>[', ', ', ']']],
    ['pythonic', null, (city) => `weather(city="${city}")`, ['[', ', ', ']']],
    ['tool_code', null, (city) => `weather(city="${city}")`, ['```tool_code\n', '\n', '\n```']],
    ['qwen3_coder', null, xml, ['', '\n', '']],
    ['seed_oss', null, (city) => xml(city).replaceAll('tool_call', 'seed:tool_call'), ['', '\n', '']],
    ['olmo3', null, (city) => `weather(city="${city}")`, ['<function_calls>', '\n', '</function_calls>']],
    ['functiongemma', null, (city) => `<start_function_call>call:weather{city:<escape>${city}<escape>}<end_function_call>`, ['', '', '']],
    ['gemma4', null, (city) => `<|tool_call>call:weather{city:<|"|>${city}<|"|>}<tool_call|>`, ['', '', '']],
    ['openai', null, (city) => `<|channel|>${harmony(city)}`, null],
    ['openai', null, (city) => `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>${harmony(city)}`, null],
  ]; // prettier-ignore

  test.each(rows)('%s: forced calls keep to the schema, and are read back', async (name, template, one, several) => {
    const syntax = toolSyntaxNamed(name, template)!;
    const [begin, between, end] = several ?? ['', '', ''];
    const forced = (parallel: boolean) =>
      toolConstraint({ mode: 'required', callable: null }, [strict], syntax, parallel)!;
    const single = begin + one('Oslo') + end;
    expect(await reachIn(forced(false), single)).toBe('complete');
    expect(await reachIn(forced(false), begin + one('Bonn') + end)).not.toBe('complete');
    expect(await reachIn(forced(false), 'Well')).toBe('');
    const double = begin + one('Oslo') + between + one('Rome') + end;
    if (several) {
      expect(await reachIn(forced(true), double)).toBe('complete');
      expect(await reachIn(forced(false), double)).not.toBe('complete');
    }
    const parser = syntax.createParser([strict]);
    const deltas = [...parser.push(several ? double : single), ...parser.flush()];
    const written = deltas.map((delta) => (delta.kind === 'arguments' ? delta.text : '')).join('');
    expect(written).toBe(several ? '{"city": "Oslo"}{"city": "Rome"}' : '{"city": "Oslo"}');
  });

  test.each(rows)('%s: text is free until a call of a strict tool begins', async (name, template, one, several) => {
    const syntax = toolSyntaxNamed(name, template)!;
    const [begin, , end] = several ?? ['', '', ''];
    expect(await reach('Hello there.', syntax)).toBe('complete');
    expect(await reach(begin + one('Oslo') + end, syntax)).toBe('complete');
    expect(await reach(begin + one('Bonn') + end, syntax)).not.toBe('complete');
  });

  const many = {
    type: 'object',
    properties: {
      note: { type: 'string', maxLength: 5 },
      days: { type: 'array', items: { type: 'integer' } },
      ok: { type: 'boolean' },
    },
    required: ['ok'],
  };
  const tool = (parameters: object, isStrict = true) => ({
    type: 'function',
    function: { name: 'f', strict: isStrict, parameters },
  });
  const forcedOf = (parameters: object, syntax: ToolSyntax, isStrict = true) =>
    toolConstraint({ mode: 'required', callable: null }, [tool(parameters, isStrict)], syntax, false)!;

  test.each([
    ['[f(ok=true)]', 'complete'],
    ['[f(ok=true, note="ab", days=[1,2])]', 'complete'],
    ['[f(note="ab")]', '[f('],
    ['[f(ok=true, note="abcdef")]', '[f(ok=true, note="abcde'],
  ])('pythonic: %j can be written: %j', async (text, expected) => {
    expect(await reachIn(forcedOf(many, PYTHONIC), text)).toBe(expected);
  });

  const aliases = {
    type: 'object',
    properties: {
      a: { $ref: '#/$defs/Either' },
      box: { anyOf: [{ $ref: '#/$defs/Box' }, { type: 'null' }], default: null },
      list: { $ref: '#/$defs/List', description: 'A list.' },
      shape: { oneOf: [{ $ref: '#/$defs/Box' }, { $ref: '#/$defs/Circle' }] },
    },
    required: ['a', 'box', 'list', 'shape'],
    $defs: {
      Seven: { const: 7 },
      Either: { anyOf: [{ $ref: '#/$defs/Seven' }, { allOf: [{ $ref: '#/$defs/Seven' }] }] },
      List: { type: 'array', items: { $ref: '#/$defs/Either' } },
      Box: { type: 'object', properties: { kind: { const: 'box' } }, required: ['kind'], additionalProperties: false },
      Circle: { type: 'object', properties: { kind: { enum: ['circle'] } }, required: ['kind'] },
    },
  };
  const readBack = async (constraint: Constraint, syntax: ToolSyntax, parameters: object): Promise<unknown> => {
    const parser = syntax.createParser([tool(parameters)]);
    const deltas = [...parser.push(await write(constraint)), ...parser.flush(true)];
    return JSON.parse(deltas.map((delta) => (delta.kind === 'arguments' ? delta.text : '')).join(''));
  };

  test.each(TOOL_PARSER_NAMES.filter((each) => each !== 'none'))(
    '%s: strict tools may have aliases, choices and optional objects',
    async (name) => {
      const syntax = toolSyntaxNamed(name, null)!;
      const value = await readBack(forcedOf(aliases, syntax), syntax, aliases);
      expect(value).toMatchObject({ a: 7, box: { kind: 'box' }, list: [] });
    },
  );

  const gemma = (args: string) => `<|tool_call>call:f{${args}}<tool_call|>`;
  const maps = {
    type: 'object',
    properties: {
      sizes: { type: 'object', additionalProperties: { type: 'integer' } },
      more: {
        anyOf: [
          { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
          { type: 'null' },
        ],
      },
    },
    additionalProperties: false,
  };
  test.each([
    ['sizes:{a:1,b:2}', 'complete'],
    ['sizes:{},more:null', 'complete'],
    ['more:{x:[<|"|>y<|"|>]}', 'complete'],
    ['sizes:{a:<|"|>', '<|tool_call>call:f{sizes:{a:'],
  ])('gemma4: maps keep to the schema of their values: %j can be written: %j', async (args, expected) => {
    expect(await reachIn(forcedOf(maps, toolSyntaxNamed('gemma4', null)!), gemma(args))).toBe(expected);
  });

  test.each([
    ['qwen3_coder', '<tool_call>\n<function=f>\n<parameter=any name>\n7\n</parameter>\n</function>\n</tool_call>', 'x'],
    ['pythonic', '[f(any=7)]', '"x"'],
    ['gemma4', gemma('any:7'), '<|"|>x<|"|>'],
  ] as const)('%s: arguments that are a map keep to the schema of its values', async (name, text, word) => {
    const map = { type: 'object', additionalProperties: { type: 'integer' } };
    const syntax = toolSyntaxNamed(name, null)!;
    expect(await reachIn(forcedOf(map, syntax), text)).toBe('complete');
    expect(await reachIn(forcedOf(map, syntax), text.replace('7', word))).not.toBe('complete');
  });

  test('gemma4: what contains itself, and a reference that leads nowhere, are refused by name', () => {
    const syntax = toolSyntaxNamed('gemma4', null)!;
    const tree = { type: 'object', properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } };
    const loop = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { anyOf: [{ $ref: '#/$defs/A' }] } },
    };
    const nowhere = { type: 'object', properties: { a: { $ref: '#/$defs/B' } } };
    expect(() => forcedOf(tree, syntax)).toThrow('a value that contains itself is not supported');
    expect(() => forcedOf(loop, syntax)).toThrow('a choice that contains itself is not supported');
    expect(() => forcedOf(nowhere, syntax)).toThrow('the reference "#/$defs/B" leads to no schema of the tool');
    expect(() => forcedOf(nowhere, QWEN3_CODER)).toThrow('the reference "#/$defs/B" leads to no schema of the tool');
  });

  test('qwen3_coder: tags in the strings of a value come back', async () => {
    const parameters = {
      type: 'object',
      properties: { a: { const: { text: '</parameter></function>' } } },
      required: ['a'],
    };
    expect(await readBack(forcedOf(parameters, QWEN3_CODER), QWEN3_CODER, parameters)).toEqual({
      a: { text: '</parameter></function>' },
    });
  });

  const call = (...parts: string[]) => `<tool_call>\n<function=f>\n${parts.join('')}</function>\n</tool_call>`;
  const ok = '<parameter=ok>\ntrue\n</parameter>\n';
  test.each([
    [call(ok), 'complete'],
    [call(ok, '<parameter=note>\na < b\n</parameter>\n'), 'complete'],
    [call(ok, '<parameter=days>\n[1, 2]\n</parameter>\n'), 'complete'],
    [call(), '<tool_call>\n<function=f>\n<'],
    ['<tool_call>\n<function=f>\n<parameter=ok>\nyes', '<tool_call>\n<function=f>\n<parameter=ok>\n'],
  ])('qwen3_coder: %j can be written: %j', async (text, expected) => {
    expect(await reachIn(forcedOf(many, QWEN3_CODER), text)).toBe(expected);
  });

  test('where nothing is required, any of the arguments may be there', async () => {
    const { required: _, ...optional } = many;
    const forced = forcedOf(optional, PYTHONIC);
    for (const text of ['[f()]', '[f(ok=true)]', '[f(note="a", ok=true)]', '[f(days=[])]'])
      expect(await reachIn(forced, text)).toBe('complete');
  });

  test('a strict tool that a syntax cannot be held to is refused by name; one that is not strict may be called anyhow', async () => {
    const parameters = { type: 'object', properties: { id: { type: 'string', pattern: '^a+$' } } };
    expect(() => forcedOf(parameters, QWEN3_CODER)).toThrow(
      '"f" is strict, but its parameters cannot be enforced in the tool-call syntax "qwen3_coder"',
    );
    expect(() => forcedOf({ anyOf: [{}] }, PYTHONIC)).toThrow('`anyOf` beside properties');
    const loose = forcedOf({ anyOf: [{}] }, PYTHONIC, false);
    expect(await reachIn(loose, '[f(a=1, b={"c": [true]})]')).toBe('complete');
  });
});
