// Answers with reasoning and calls are the same whole and in a stream, and in chat, Responses and Messages, wherever max_tokens or a stop
// string cuts them. How each parser reads pieces of any size is tested with the parsers (src/text).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { AnswerParsers } from '#domain/answer-parsers';
import { BASE, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';
import { speakScript, type Script } from './scripted-engine.ts';

interface Family {
  readonly tools: AnswerParsers['tools'];
  readonly reasoning: AnswerParsers['reasoning'];
  readonly thought: (text: string) => string;
  readonly call: (name: string, args: Readonly<Record<string, string>>) => string;
}

const json = JSON.stringify;
const FAMILIES: readonly Family[] = [
  {
    tools: 'hermes',
    reasoning: 'qwen3',
    thought: (text) => `<think>\n${text}\n</think>\n\n`,
    call: (name, args) => `<tool_call>\n${json({ name, arguments: args })}\n</tool_call>`,
  },
  {
    tools: 'mistral',
    reasoning: 'mistral',
    thought: (text) => `[THINK]${text}[/THINK]`,
    call: (name, args) => `[TOOL_CALLS]${name}[ARGS]${json(args)}`,
  },
  {
    tools: 'qwen3_coder',
    reasoning: 'qwen3',
    thought: (text) => `<think>\n${text}\n</think>\n\n`,
    call: (name, args) => {
      const values = Object.entries(args).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`);
      return `<tool_call>\n<function=${name}>\n${values.join('')}</function>\n</tool_call>`;
    },
  },
  {
    tools: 'openai',
    reasoning: 'openai_gptoss',
    thought: (text) => `<|channel|>analysis<|message|>${text}<|end|>`,
    call: (name, args) =>
      `<|start|>assistant<|channel|>commentary to=functions.${name} json<|message|>${json(args)}<|call|>`,
  },
];

interface Read {
  content: string;
  reasoning: string;
  /** Names and arguments. */
  calls: [name: string, args: string][];
  end: unknown;
}

interface Limits {
  readonly max: number;
  readonly stop?: string;
  readonly n: number;
}

const words = fc
  .array(fc.constantFrom('Oslo', ' ', '🎈', 'é', '"', '\\', '\n', '}', '<', '</tool', '日', ';'), { maxLength: 4 })
  .map((parts) => parts.join(''));
const answers = fc.record({
  thought: fc.option(words),
  content: words,
  calls: fc.array(fc.tuple(fc.constantFrom('f', 'g'), fc.record({ a: words }, { requiredKeys: [] })), { maxLength: 2 }),
  stop: fc.option(fc.constantFrom('Oslo', '🎈', '</tool', '"}', 'f', '\n', '<|'), { nil: undefined }),
  cut: fc.double({ min: 0, max: 1.5, noNaN: true }),
  n: fc.integer({ min: 1, max: 2 }),
});

const parameters = { properties: { a: { type: 'string' } } };
const names = ['f', 'g'];
/** The tests' model has a short context. */
const TOKENS_MAX = 150;

describe.each(FAMILIES)('$tools', ({ thought, call, ...parsers }) => {
  const script: Script = { text: '', asked: null };
  let server: TestServer;
  beforeAll(async () => {
    server = await openTestServer({
      parsers,
      wrapEngine: (real) => speakScript(real, () => server.model.text, script),
    });
  });
  afterAll(() => server.close());

  /** The body, or the events of its stream. */
  async function post<Body>(url: string, body: object, stream: boolean): Promise<readonly Body[]> {
    const response = await send(server, { url, body: { model: BASE, stream, ...body } });
    expect(response.statusCode, response.body).toBe(200);
    if (!stream) return [response.json<Body>()];
    return [...response.body.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!) as Body);
  }

  const chat = async ({ max, stop, n }: Limits, stream: boolean): Promise<Read[]> => {
    const tools = names.map((name) => ({ type: 'function', function: { name, parameters } }));
    const body = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: max, stop, n, tools };
    return chatChoices(await post('/v1/chat/completions', body, stream), n);
  };
  const responses = async ({ max }: Limits, stream: boolean): Promise<Read> => {
    const tools = names.map((name) => ({ type: 'function', name, parameters, strict: false }));
    return responseRead(await post('/v1/responses', { input: 'Hi', max_output_tokens: max, tools }, stream));
  };
  const messages = async ({ max, stop }: Limits, stream: boolean): Promise<Read> => {
    const tools = names.map((name) => ({ name, input_schema: { type: 'object', ...parameters } }));
    const body = {
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: max,
      tools,
      thinking: { type: 'adaptive' },
    };
    return messageRead(await post('/v1/messages', { ...body, ...(stop ? { stop_sequences: [stop] } : {}) }, stream));
  };

  test('an answer is the same in each protocol, whole and in a stream', { timeout: 60_000 }, async () => {
    const property = fc.asyncProperty(answers, async ({ thought: thinks, content, calls, stop, cut, n }) => {
      script.text = `${thinks === null ? '' : thought(`Hm${thinks}`)}${content}${calls.map(([name, args]) => call(name, args)).join('')}`;
      const size = server.model.text.tokenizer.encode(script.text).length;
      fc.pre(size < TOKENS_MAX);
      const limits = { max: Math.max(1, Math.round(size * cut)), n, ...(stop === undefined ? {} : { stop }) };
      const [whole, ...others] = await chat(limits, false);
      for (const other of [...others, ...(await chat(limits, true))]) expect(other).toEqual(whole);
      const { end, ...said } = whole!;
      const message = await messages(limits, false);
      expect(await messages(limits, true)).toEqual(message);
      expect(message).toMatchObject({ ...said, calls: said.calls.map(([name, args]) => [name, asInput(args)]) });
      if (stop !== undefined) return; // Responses have no stop strings
      const response = await responses(limits, false);
      expect(await responses(limits, true)).toEqual(response);
      expect(response).toMatchObject({ ...said, end: end === 'length' ? 'incomplete' : 'completed' });
    });
    await fc.assert(property, { seed: 1, numRuns: 40 });
  });
});

/** Chat: an answer or a chunk. */
interface Completion {
  readonly choices: readonly {
    readonly index: number;
    readonly delta?: Said;
    readonly message?: Said;
    readonly finish_reason: string | null;
  }[];
}
interface Said {
  readonly content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly {
    readonly index?: number;
    readonly function: { readonly name?: string; readonly arguments: string };
  }[];
}

/** Responses: an answer or an event. */
interface Item {
  readonly type: string;
  readonly content?: readonly { readonly text: string }[];
  readonly name?: string;
  readonly arguments?: string;
}
interface Response {
  readonly output: readonly Item[];
  readonly status: string;
}
type ResponseEvent = {
  readonly type: string;
  readonly delta?: string;
  readonly item?: Item;
  readonly response: Response;
} & Response;

/** Messages: an answer or an event. */
interface Block {
  readonly text?: string;
  readonly thinking?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly partial_json?: string;
}
interface MessageEvent {
  readonly content?: readonly Block[];
  readonly content_block?: Block;
  readonly delta?: Block & { readonly stop_reason?: string };
  readonly stop_reason?: string;
}

/** A call that was cut has no JSON: Messages have an empty input in its place. */
function asInput(args: string): string {
  try {
    return json(JSON.parse(args));
  } catch {
    return '{}';
  }
}

const nothing = (): Read => ({ content: '', reasoning: '', calls: [], end: null });

function chatChoices(bodies: readonly Completion[], n: number): Read[] {
  const read = Array.from({ length: n }, nothing);
  for (const { index: choice, delta, message, finish_reason: end } of bodies.flatMap(({ choices }) => choices)) {
    const into = read[choice]!;
    const said = delta ?? message ?? {};
    into.content += said.content ?? '';
    into.reasoning += said.reasoning ?? '';
    for (const [at, { index = at, function: called }] of (said.tool_calls ?? []).entries()) {
      if (called.name) into.calls[index] = [called.name, ''];
      into.calls[index]![1] += called.arguments;
    }
    into.end ??= end;
  }
  return read;
}

function responseRead(bodies: readonly ResponseEvent[]): Read {
  const last = bodies.at(-1)!;
  const { output, status } = bodies.length > 1 ? last.response : last;
  const read = { ...nothing(), end: status };
  for (const { type, content = [], name = '', arguments: args = '' } of output) {
    const text = content.map((part) => part.text).join('');
    if (type === 'message') read.content += text;
    else if (type === 'reasoning') read.reasoning += text;
    else read.calls.push([name, args]);
  }
  if (bodies.length > 1) expect(sumOfDeltas(bodies)).toEqual({ ...read, end: null });
  return read;
}

function sumOfDeltas(events: readonly ResponseEvent[]): Read {
  const sum = nothing();
  for (const { type, delta = '', item } of events) {
    if (type === 'response.output_text.delta') sum.content += delta;
    else if (type === 'response.reasoning_text.delta') sum.reasoning += delta;
    else if (type === 'response.function_call_arguments.delta') sum.calls.at(-1)![1] += delta;
    else if (type === 'response.output_item.added' && item?.type === 'function_call') sum.calls.push([item.name!, '']);
  }
  return sum;
}

function messageRead(bodies: readonly MessageEvent[]): Read {
  const read = nothing();
  for (const { content, content_block: opened, delta, stop_reason: end } of bodies) {
    for (const { text, thinking, name, input, partial_json: piece } of content ?? [opened ?? delta ?? {}]) {
      read.content += text ?? '';
      read.reasoning += thinking ?? '';
      if (name) read.calls.push([name, bodies.length > 1 ? '' : json(input)]);
      if (piece) read.calls.at(-1)![1] += piece;
    }
    read.end ??= end ?? delta?.stop_reason ?? null;
  }
  return { ...read, calls: read.calls.map(([name, args]) => [name, asInput(args)]) };
}
