// The constraints that tools impose on an answer: which texts can be written, most of them in the syntaxes of Hermes and Llama 3.
import { describe, expect, test } from 'vitest';
import type { Constraint } from '#domain/constraint';
import { toolConstraint } from '#services/chat/tool-constraint';
import { TOOL_PARSER_NAMES, type ToolParserName } from '#domain/answer-parsers';
import { HERMES, LLAMA3, toolSyntaxNamed, type ToolSyntax } from '#text/tool-parser';
import { loose, reach, reachIn, strict, write } from './tool-texts.ts';

describe('names that are no identifiers', () => {
  const NAMES = [
    'Content-Type',
    '$filter',
    'two words',
    'größe',
    'a.b',
    'x[0]',
    '@id',
    'class',
    'a:b',
    '"q"',
    'a<b',
    'ﬁ',
  ];
  const PYTHON = (name: string) => ['größe', 'class'].includes(name);
  const WRITABLE: Readonly<Partial<Record<ToolParserName, (name: string) => boolean>>> = {
    pythonic: PYTHON,
    llama4_pythonic: PYTHON,
    tool_code: PYTHON,
    qwen3_coder: (name) => name !== 'a<b',
    qwen3_xml: (name) => name !== 'a<b',
    seed_oss: (name) => name !== 'a<b',
    olmo3: PYTHON,
  };
  const syntaxes = TOOL_PARSER_NAMES.filter((each) => each !== 'none');
  const SHAPES: Readonly<Record<string, (object: object) => object>> = {
    plain: (object) => object,
    referred: (object) => ({ $ref: '#/$defs/P', $defs: { P: object } }),
    parts: (object) => ({ type: 'object', allOf: [object], $comment: 'No keyword of the object.' }),
    beyond: (object) => ({ ...object, minProperties: 1 }),
    choices: (object) => ({ anyOf: [object, { ...object, description: 'The same.' }] }),
  };
  const forced = (syntax: ToolParserName, name: string, parameter: string, isStrict: boolean, shape = 'plain') => {
    const object = { type: 'object', properties: { [parameter]: { const: 7 } }, required: [parameter] };
    const parameters = SHAPES[shape]!(object);
    const tool = { type: 'function', function: { name, strict: isStrict, parameters } };
    const read = toolSyntaxNamed(syntax, null)!;
    return { tool, read, constrain: () => toolConstraint({ mode: 'required', callable: null }, [tool], read, false)! };
  };

  test.each(syntaxes)('%s: a forced call has them and is read back, or the tool is refused by name', async (syntax) => {
    for (const name of NAMES)
      for (const shape of ['strict', ...Object.keys(SHAPES)]) {
        const isStrict = shape === 'strict';
        const { tool, read, constrain } = forced(syntax, 'send', name, isStrict, isStrict ? 'plain' : shape);
        if (WRITABLE[syntax]?.(name) === false) {
          expect(constrain, name).toThrow(/The tool "send" cannot be called in the tool-call syntax/);
          continue;
        }
        const parser = read.createParser([tool]);
        const deltas = [...parser.push(await write(constrain())), ...parser.flush(true)];
        const json = deltas.map((delta) => (delta.kind === 'arguments' ? delta.text : '')).join('');
        expect(JSON.parse(json), `${name} ${shape}`).toEqual({ [name]: 7 });
      }
  });

  test.each(syntaxes)('%s: so are names of tools', async (syntax) => {
    for (const name of ['get-weather', '2fa', 'a.b', 'a b', 'größe']) {
      const { tool, read, constrain } = forced(syntax, name, 'x', false);
      let text: string;
      try {
        text = await write(constrain());
      } catch (error) {
        expect((error as Error).message).toContain(`The tool "${name}" cannot be called`);
        continue;
      }
      const parser = read.createParser([tool]);
      const [first] = [...parser.push(text), ...parser.flush(true)];
      expect(first).toMatchObject({ kind: 'call', name });
    }
  });
});

test('where no tool is strict and all may be called, calls are as free as the text', () => {
  expect(toolConstraint({ mode: 'auto', callable: null }, [loose], HERMES, true)).toBeNull();
});

describe('hermes, with a strict tool', () => {
  const call = (name: string, args: string) => `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
  const oslo = call('weather', '{"city": "Oslo"}');
  test.each([
    ['', 'complete'],
    ['Ünï {"name": "weather"} <tool', 'complete'],
    [`Wait.\n${oslo}\nThere.`, 'complete'],
    [`${oslo}\n${oslo}`, 'complete'],
    [call('note', '{"anything": [1]}'), 'complete'],
    [call('weather', '{"city": "Paris"}'), '<tool_call>\n{"name": "weather", "arguments": {"city": "'],
    [call('weather', '{"town": 1}'), '<tool_call>\n{"name": "weather", "arguments": {"'],
    [call('nothing', '{}'), '<tool_call>\n{"name": "not'],
  ])('%j can be written: %j', async (text, expected) => {
    expect(await reach(text, HERMES)).toBe(expected);
  });

  test('without parallel calls, nothing follows the first', async () => {
    expect(await reach(`Hm. ${oslo}`, HERMES, false)).toBe('complete');
    expect(await reach(`Hm. ${oslo} `, HERMES, false)).toBe(`Hm. ${oslo}`);
  });
});

describe('llama3, with a strict tool', () => {
  const call = (name: string, args: string) => `{"name": "${name}", "parameters": ${args}}`;
  const oslo = call('weather', '{"city": "Oslo"}');
  test.each([
    ['', 'complete'],
    [`A brace later is text: {"name": "weather"} é`, 'complete'],
    ['<b>bold</b>', 'complete'],
    [oslo, 'complete'],
    [`${oslo}; ${call('note', '{}')}`, 'complete'],
    [call('weather', '{"city": "Paris"}'), '{"name": "weather", "parameters": {"city": "'],
    ['{"born": 1815}', '{"'],
    ['\n {"name": "weather"}', '\n '],
    ['<|python_tag|>{"name": "weather"}', '<'],
  ])('%j can be written: %j', async (text, expected) => {
    expect(await reach(text, LLAMA3)).toBe(expected);
  });
});

describe('parameters that are combined of parts', () => {
  const call = (args: string) => `<tool_call>\n{"name": "weather", "arguments": ${args}}\n</tool_call>`;
  const named = (kind: string, key: string) => ({
    type: 'object',
    properties: { kind: { const: kind }, [key]: { type: 'integer' } },
    required: ['kind', key],
  });
  /** Pydantic's schema of a recursive model. */
  const tree = {
    $defs: { Tree: { type: 'object', properties: { left: { $ref: '#/$defs/Tree' } }, additionalProperties: false } },
    $ref: '#/$defs/Tree',
  };
  const union = {
    $defs: { Cat: named('cat', 'lives'), Dog: named('dog', 'bones') },
    discriminator: { propertyName: 'kind', mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' } },
    oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
  };
  const either = { properties: { a: { type: 'null' } }, anyOf: [{ required: ['a'] }, { required: ['b'] }] };
  test.each([
    ['$ref', tree, '{"left":{"left":{}}}', '{"left":1}'],
    ['oneOf', union, '{"kind":"dog","bones":3}', '{"kind":"dog","lives":3}'],
    ['anyOf', { anyOf: [named('cat', 'lives'), named('dog', 'bones')] }, '{"kind":"cat","lives":9}', 'null'],
    ['anyOf beside properties', either, '{"b":1}', '{}'],
    [
      'allOf',
      { allOf: [named('cat', 'lives'), { required: ['name'] }] },
      '{"kind":"cat","lives":9,"name":"Tom"}',
      '{}',
    ],
  ])('%s', async (_, combined, good, bad) => {
    const tool = { type: 'function', function: { name: 'weather', strict: true, parameters: combined } };
    const forced = toolConstraint({ mode: 'required', callable: null }, [tool], HERMES, false)!;
    expect(await reachIn(forced, call(good))).toBe('complete');
    expect(await reachIn(forced, call(bad))).not.toBe('complete');
  });
});

describe('beside a format of the answer', () => {
  const schema = { type: 'object', properties: { note: { enum: ['a', 'b'] } }, required: ['note'] };
  const json = { kind: 'json_schema', anyWhitespace: true, whitespacePattern: null, strict: true } as const;
  const formats = {
    schema: { ...json, source: JSON.stringify({ ...schema, additionalProperties: false }) },
    regex: { kind: 'regex', source: '<(yes|no)>' },
    grammar: { kind: 'ebnf', source: 'root ::= call\ncall ::= "<tool_calls>"' },
  } as const;
  const either = (format: Constraint, syntax: ToolSyntax, parallel: boolean) =>
    toolConstraint({ mode: 'auto', callable: null }, [strict, loose], syntax, parallel, format)!;
  const hermes = (name: string, args: string) => `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
  const llama3 = (name: string, args: string) => `{"name": "${name}", "parameters": ${args}}`;
  const oslo = hermes('weather', '{"city": "Oslo"}');
  const oslo3 = llama3('weather', '{"city": "Oslo"}');
  test.each([
    [HERMES, 'schema', '{"note": "a"}', 'complete'],
    [HERMES, 'schema', oslo, 'complete'],
    [HERMES, 'schema', `${oslo}\n${hermes('note', '{"x": 1}')}`, 'complete'],
    [
      HERMES,
      'schema',
      hermes('weather', '{"city": "Bonn"}'),
      '<tool_call>\n{"name": "weather", "arguments": {"city": "',
    ],
    [HERMES, 'schema', '', 'open'],
    [HERMES, 'schema', 'Well', ''],
    [HERMES, 'schema', `{"note": "a"}\n${oslo}`, '{"note": "a"}'],
    [HERMES, 'schema', `${oslo}\n{"note": "a"}`, `${oslo}\n`],
    [HERMES, 'regex', '<yes>', 'complete'],
    [HERMES, 'regex', oslo, 'complete'],
    [HERMES, 'grammar', '<tool_calls>', 'complete'],
    [HERMES, 'grammar', oslo, 'complete'],
    [LLAMA3, 'schema', '{"note": "b"}', 'complete'],
    [LLAMA3, 'schema', `${oslo3}; ${llama3('note', '{}')}`, 'complete'],
    [LLAMA3, 'schema', '{"n', 'open'],
    [LLAMA3, 'schema', '{"name": "b"}', '{"name": "'],
  ] as const)('%o %s: %j can be written: %j', async (syntax, format, text, expected) => {
    expect(await reachIn(either(formats[format], syntax, true), text)).toBe(expected);
  });

  test('without parallel calls, nothing follows the first', async () => {
    expect(await reachIn(either(formats.schema, HERMES, false), oslo)).toBe('complete');
    expect(await reachIn(either(formats.schema, HERMES, false), `${oslo}\n`)).toBe(oslo);
  });

  test('what cannot be enforced is refused, on either side', async () => {
    const unfit = { ...json, source: '{"not": {}}' };
    await expect(reachIn(either(unfit, HERMES, true), '')).rejects.toThrow('at /not');
    const bad = { type: 'function', function: { name: 'bad', strict: true, parameters: { not: {} } } };
    const joined = toolConstraint({ mode: 'auto', callable: null }, [bad], HERMES, true, formats.regex)!;
    await expect(reachIn(joined, '')).rejects.toThrow('at /not');
  });
});

test.each([
  ['{"id": [1]}', 'complete'],
  ['{"id": 1, "count": 2}', 'complete'],
  ['{"count": 2}', '{"count": 2'],
  ['{}', '{'],
  ['{"other": 1}', '{"'],
])(
  'a required argument without a schema may be anything, but must be there: %j can be written: %j',
  async (args, expected) => {
    const parameters = { type: 'object', properties: { count: { type: 'integer' } }, required: ['id'] };
    const tool = { type: 'function', function: { name: 'f', strict: true, parameters } };
    const begin = '<tool_call>\n{"name": "f", "arguments": ';
    const forced = toolConstraint({ mode: 'required', callable: null }, [tool], HERMES, false)!;
    const end = '}\n</tool_call>';
    expect(await reachIn(forced, begin + args + end)).toBe(expected === 'complete' ? expected : begin + expected);
  },
);

test('a tool that is not strict can be forced with a schema that cannot be enforced; a strict one is refused', async () => {
  const unusual = { type: 'object', properties: { tags: { $ref: 'https://example.org/tags' } } };
  const forced = (isStrict: boolean) =>
    toolConstraint(
      { mode: 'required', callable: null },
      [{ type: 'function', function: { name: 'tag', strict: isStrict, parameters: unusual } }],
      HERMES,
      false,
    )!;
  const text = '<tool_call>\n{"name": "tag", "arguments": {"tags": [1]}}\n</tool_call>';
  expect(await reachIn(forced(false), text)).toBe('complete');
  await expect(reachIn(forced(true), text)).rejects.toThrow('/tags/$ref, only references within the schema');
});
