// Answers with calls over HTTP, in the syntaxes of other model families: a server is started with the parser's name, and
// an engine writes what such a model writes. The pieces of a stream add up to the whole answer.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReasoningParserName, ToolParserName } from '#domain/answer-parsers';
import { speakScript, type Script } from './scripted-engine.ts';
import { chat, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

const url = '/v1/chat/completions';
const parameters = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } };
const tools = [{ name: 'weather', parameters }, { name: 'now' }].map((each) => ({ type: 'function', function: each }));
const ARGS = '{"city": "Oslo", "days": 2}';
const json = (name: string, key = 'arguments') => `{"name": "${name}", "${key}": ${name === 'now' ? '{}' : ARGS}}`;

interface Family {
  readonly tools: ToolParserName;
  readonly reasoning: ReasoningParserName;
  readonly thought: string;
  /** `weather` and `now`, one after the other. */
  readonly both: string;
  /** The first call as far as the model got, and the arguments read from it. */
  readonly cut: readonly [text: string, args: string];
  /** Text that looks like a call but is not one. */
  readonly none: string;
}

const xml = (name: string, values: Record<string, string>) =>
  `<tool_call>\n<function=${name}>\n${Object.entries(values)
    .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
    .join('')}</function>\n</tool_call>`;
const harmony = (name: string, args: string) =>
  `<|start|>assistant<|channel|>commentary to=functions.${name} json<|message|>${args}<|call|>`;

const FAMILIES: readonly Family[] = [
  {
    tools: 'mistral',
    reasoning: 'mistral',
    thought: '[THINK]Hm.[/THINK]',
    both: `[TOOL_CALLS]weather[ARGS]${ARGS}[TOOL_CALLS]now[ARGS]{}`,
    cut: ['[TOOL_CALLS]weather[ARGS]{"city": "Os', '{"city": "Os'],
    none: '[TOOL_CALLS] are how I call.',
  },
  {
    tools: 'llama3_json',
    reasoning: 'none',
    thought: '',
    both: `${json('weather', 'parameters')}; ${json('now', 'parameters')}`,
    cut: ['{"name": "weather", "parameters": {"city": "Os', '{"city": "Os'],
    none: '{"answer": 42}',
  },
  {
    tools: 'pythonic',
    reasoning: 'none',
    thought: '',
    both: '[weather(city="Oslo", days=2), now()]',
    cut: ['[weather(city="Os', '{"city": "Os'],
    none: '[1] A footnote.',
  },
  {
    tools: 'granite',
    reasoning: 'granite',
    thought: '<think>Hm.</think>',
    both: `<|tool_call|>[${json('weather')}, ${json('now')}]`,
    cut: ['<|tool_call|>[{"name": "weather", "arguments": {"city": "Os', '{"city": "Os'],
    none: '<|tool_call|> is a mark.',
  },
  {
    tools: 'qwen3_coder',
    reasoning: 'qwen3',
    thought: '<think>\nHm.\n</think>\n\n',
    both: `${xml('weather', { city: 'Oslo', days: '2' })}\n${xml('now', {})}`,
    cut: ['<tool_call>\n<function=weather>\n<parameter=city>\nOs', '{"city": "Os'],
    none: '<tool_call>me</tool_call>',
  },
  {
    tools: 'openai',
    reasoning: 'openai_gptoss',
    thought: '<|channel|>analysis<|message|>Hm.<|end|>',
    both: harmony('weather', ARGS) + harmony('now', '{}'),
    cut: ['<|start|>assistant<|channel|>commentary to=functions.weather json<|message|>{"city": "Os', '{"city": "Os'],
    none: 'to=functions.weather',
  },
];

interface Call {
  readonly index: number;
  readonly id?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
}
interface Said {
  readonly content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly Call[];
}

describe.each(FAMILIES)('$tools', ({ thought, both, cut, none, ...parsers }) => {
  const script: Script = { text: '', asked: null };
  let server: TestServer;
  beforeAll(async () => {
    server = await openTestServer({
      parsers,
      wrapEngine: (real) => speakScript(real, () => server.model.text, script),
    });
  });
  afterAll(() => server.close());

  async function whole(text: string, fields = {}) {
    script.text = text;
    const response = await send(server, { url, body: chat({ tools, max_tokens: null, ...fields }) });
    expect(response.statusCode, response.body).toBe(200);
    const { message, finish_reason: finish } = response.json<{ choices: [{ message: Said; finish_reason: string }] }>()
      .choices[0];
    return { ...merge([message]), finish };
  }

  async function streamed(text: string, fields = {}) {
    script.text = text;
    const response = await send(server, { url, body: chat({ tools, max_tokens: null, stream: true, ...fields }) });
    expect(response.statusCode, response.body).toBe(200);
    const choices = response.body
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice('data: '.length)) as { choices: [{ delta: Said; finish_reason: string }] })
      .map((chunk) => chunk.choices[0]);
    const deltas = choices.map(({ delta }) => delta);
    const pieces = deltas.flatMap((delta) => delta.tool_calls ?? []);
    return { ...merge(deltas), finish: choices.at(-1)!.finish_reason, pieces };
  }

  test('parallel calls are parsed, after reasoning, whole and in pieces', async () => {
    const { pieces, ...merged } = await streamed(thought + both);
    expect(merged).toEqual({
      content: '',
      reasoning: thought === '' ? '' : 'Hm.',
      calls: [
        ['weather', { city: 'Oslo', days: 2 }],
        ['now', {}],
      ].map(([name, args]) => [name, JSON.stringify(args)]),
      finish: 'tool_calls',
    });
    expect(await whole(thought + both)).toEqual(merged);
    const heads = pieces.filter(({ id }) => id !== undefined);
    expect(heads.map(({ index, function: { name } }) => [index, name])).toEqual([
      [0, 'weather'],
      [1, 'now'],
    ]);
  });

  const unclosed = /^(?:\[THINK\]|<think>\s*)Hm\./.exec(thought)?.[0];

  if (unclosed !== undefined)
    test('calls with which the reasoning ends are calls if no answer follows and none is forced', async () => {
      const { pieces: _, ...merged } = await streamed(unclosed + both);
      expect(merged).toMatchObject({ reasoning: 'Hm.', content: '', finish: 'tool_calls' });
      expect(merged.calls.map(([name]) => name)).toEqual(['weather', 'now']);
      expect(await whole(unclosed + both)).toEqual(merged);
      expect((await whole(unclosed + both, { include_reasoning: false })).calls).toEqual(merged.calls);
      const strict = { tools: [{ type: 'function', function: { name: 'now', strict: true } }] };
      expect((await whole(unclosed + both, strict)).calls).toEqual([]);
    });

  test('a single call is parsed if only one is allowed', async () => {
    const { pieces, ...merged } = await streamed(both, { parallel_tool_calls: false });
    expect(merged.calls.map(([name]) => name)).toEqual(['weather']);
    expect(new Set(pieces.map(({ index }) => index))).toEqual(new Set([0]));
    expect(await whole(both, { parallel_tool_calls: false })).toEqual(merged);
  });

  test('a call that max_tokens cut off stays a call, as far as it came', async () => {
    const [text, args] = cut;
    const limit = { max_tokens: server.model.text.tokenizer.encode(text).length };
    const { pieces: _, ...merged } = await streamed(text, limit);
    expect(merged).toMatchObject({ content: '', finish: 'length', calls: [['weather', args]] });
    expect(await whole(text, limit)).toEqual(merged);
  });

  test('a call inside which the model ends its answer is content as a whole; missing tags are assumed', async () => {
    const [text] = cut;
    const { pieces: _, ...merged } = await streamed(text);
    expect(merged).toMatchObject(
      parsers.tools === 'qwen3_coder'
        ? { content: '', finish: 'tool_calls', calls: [['weather', '{"city":"Os"}']] }
        : { content: text, finish: 'stop', calls: [] },
    );
    expect(await whole(text)).toEqual(merged);
  });

  test('text that looks like a call but is not one is content', async () => {
    const { pieces, ...merged } = await streamed(none);
    expect(pieces).toEqual([]);
    expect(merged).toEqual({ content: none, reasoning: '', calls: [], finish: 'stop' });
    expect(await whole(none)).toEqual(merged);
  });
});

/** Arguments as JSON without its spaces. */
function merge(parts: readonly Said[]) {
  const calls: [name: string, args: string][] = [];
  for (const [at, { index = at, function: said }] of parts.flatMap((part) => part.tool_calls ?? []).entries()) {
    if (said.name !== undefined) calls[index] = [said.name, ''];
    calls[index]![1] += said.arguments;
  }
  return {
    content: parts.map(({ content }) => content ?? '').join(''),
    reasoning: parts.map(({ reasoning }) => reasoning ?? '').join(''),
    calls: calls.map(([name, args]): [string, string] => [name, compact(args)]),
  };
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
