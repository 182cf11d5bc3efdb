// The constraints that tools impose on an answer, as the grammar threads enforce them: which texts can be written, in both
// syntaxes.
import { afterAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { Constraint } from '#domain/constraint';
import { createGrammars } from '#grammar/grammars';
import { toolConstraint } from '#services/chat/tool-constraint';
import { TOOL_PARSER_NAMES, type ToolParserName } from '#domain/answer-parsers';
import { HERMES, LLAMA3, PYTHONIC, QWEN3_CODER, toolSyntaxNamed, type ToolSyntax } from '#text/tool-parser';

/** Every byte is a token; 256 ends the text. */
const EOS = 256;
const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 258 }, (_, i) => Math.min(i, 256)),
};
const grammars = createGrammars({ vocabulary, vocabSize: 257, stopTokenIds: [EOS], log: silentLog });
afterAll(() => grammars.close());

const parameters = { type: 'object', properties: { city: { enum: ['Oslo', 'Rome'] } }, required: ['city'] };
const strict = { type: 'function', function: { name: 'weather', strict: true, parameters } };
const loose = { type: 'function', function: { name: 'note', parameters } };

/** How much of the text can be written; all of it and the end: `complete`. */
const reach = (text: string, syntax: ToolSyntax, parallel = true): Promise<string> =>
  reachIn(toolConstraint({ mode: 'auto', callable: null }, [strict, loose], syntax, parallel)!, text);

async function reachIn(constraint: Constraint, text: string): Promise<string> {
  const [matcher] = await grammars.open(constraint, 1, 'a');
  const may = (token: number) => {
    const mask = matcher!.mask();
    return mask !== null && ((mask[token >> 5]! >>> (token & 31)) & 1) === 1;
  };
  try {
    const bytes = [...Buffer.from(text)];
    for (const [at, byte] of bytes.entries()) {
      if (!may(byte)) return Buffer.from(bytes.slice(0, at)).toString();
      matcher!.accept(byte);
    }
    return may(EOS) ? 'complete' : 'open';
  } finally {
    matcher!.close();
  }
}

/** A text that the constraint allows, without analysis before a call, and without white space where there may be some. */
async function write(constraint: Constraint): Promise<string> {
  const [matcher] = await grammars.open(constraint, 1, 'a');
  const bytes: number[] = [];
  try {
    for (let mask = matcher!.mask(); mask !== null && bytes.length < 2_000; mask = matcher!.mask()) {
      const allowed = Array.from({ length: 257 }, (_, token) => token).filter(
        (token) => (mask[token >> 5]! >>> (token & 31)) & 1,
      );
      const token = allowed.at(-1) === EOS ? EOS : (allowed.findLast((each) => each > 0x20) ?? allowed[0]!);
      if (token !== EOS) bytes.push(token);
      matcher!.accept(token);
    }
    return Buffer.from(bytes).toString();
  } finally {
    matcher!.close();
  }
}

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
  };
  const syntaxes = TOOL_PARSER_NAMES.filter((each) => each !== 'none');
  const forced = (syntax: ToolParserName, name: string, parameter: string, isStrict: boolean) => {
    const parameters = { type: 'object', properties: { [parameter]: { const: 7 } }, required: [parameter] };
    const tool = { type: 'function', function: { name, strict: isStrict, parameters } };
    const read = toolSyntaxNamed(syntax, null)!;
    return { tool, read, constrain: () => toolConstraint({ mode: 'required', callable: null }, [tool], read, false)! };
  };

  test.each(syntaxes)('%s: a forced call has them and is read back, or the tool is refused by name', async (syntax) => {
    for (const name of NAMES)
      for (const isStrict of [true, false]) {
        const { tool, read, constrain } = forced(syntax, 'send', name, isStrict);
        if (WRITABLE[syntax]?.(name) === false) {
          expect(constrain, name).toThrow(/The tool "send" cannot be called in the tool-call syntax/);
          continue;
        }
        const parser = read.createParser([tool]);
        const deltas = [...parser.push(await write(constrain())), ...parser.flush(true)];
        const json = deltas.map((delta) => (delta.kind === 'arguments' ? delta.text : '')).join('');
        expect(JSON.parse(json), name).toEqual({ [name]: 7 });
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
