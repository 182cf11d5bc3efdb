// JSON values of requests and rows, from their text to the prompt: a template writes them as Python would, compared with Transformers
// (python/golden/make_sent_values.py) for every place in which a template can see them.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { readEvaluationLine } from '#rows/evaluation';
import { readPreferencePair } from '#rows/dpo';
import { readSftLine } from '#rows/sft';
import { buildPrompt } from '#services/chat/prompt';
import type { Conversation } from '#services/chat/chat-request';
import { createAcceptEvaluation } from '#services/evaluations/accept-evaluation';
import { putEvaluationBody, readEvaluationBody } from '#services/evaluations/stored-answers';
import { findContent, sealContent } from '#services/responses/response-content';
import { createChatTemplate, type RenderRequest } from '#text/chat-template';
import type { TextModel } from '#text/text-model';
import { tokenizeHistory } from '#training/tokenize';
import type { ConversationEncoder } from '#training/conversation-encoder';
import type { TrajectoryGroup, Turn } from '#domain/trajectory';
import { trajectoryGroup } from '#rows/trajectory';
import { parse } from '#validation/parse';
import { parseJson } from '#validation/json-text';
import { parseChatRequest } from '../../../src/api/chat/chat-request.ts';
import { parseTokenize } from '../../../src/api/chat/tokenize-schema.ts';
import { parseCountTokens, parseMessagesRequest } from '../../../src/api/messages/messages-request.ts';
import { parseResponsesRequest } from '../../../src/api/responses/responses-request.ts';
import { createTrajectoryBodyParser } from '../../../src/api/training/training-body.ts';
import { fixturePath } from '../../support/golden/fixture.ts';

const { cases } = JSON.parse(readFileSync(fixturePath('templates/sent-values.json'), 'utf8')) as {
  cases: readonly (readonly [text: string, written: string])[];
};
const objects = cases.filter(([text]) => text.trim().startsWith('{'));
/** Messages makes every schema without a type an object's. */
const schemas = objects.map((pair) => pair.map((text) => `{"type": "object", "default": ${text}}`) as [string, string]);
const documents = objects.filter(([text]) =>
  Object.values(parseJson(text) as object).every((v) => typeof v === 'string'),
);

/** Writes all values of a request that are not its own words. */
const TEMPLATE = `
{%- for tool in tools or [] %}
  {{- tool.function.parameters | tojson }}{{ tool.function.return | tojson if tool.function.return is defined }}
{%- endfor %}
{%- for message in messages if message.tool_calls %}
  {%- for call in message.tool_calls %}{{ call.function.arguments | tojson }}{% endfor %}
{%- endfor %}
{%- if value is defined %}{{ value | tojson }}{% endif %}
{%- if documents %}{{ documents[0] | tojson }}{% endif %}`;
const chatTemplate = createChatTemplate({ default: TEMPLATE }, new Map(), systemClock);
const written = (prompt: RenderRequest): string => chatTemplate.render(prompt);
const model = {
  chatTemplate,
  namedTokens: new Map(),
  prompts: { make: ({ prompt }: { prompt: RenderRequest }) => Promise.resolve({ text: written(prompt), tokens: [0] }) },
  tokenizer: { tokenCharactersMax: 100 },
} as unknown as TextModel;

async function promptOf(request: Omit<Conversation, 'model'>): Promise<string> {
  const limits = { modelId: 'm', contextLength: 100_000, answerRoom: 0 };
  const by = { payer: 'p', signal: new AbortController().signal };
  return (await buildPrompt({ acceptsTemplates: false }, model, request, limits, by)).text;
}

type Read = (body: unknown) => Omit<Conversation, 'model'>;
const complete = (body: unknown) =>
  parseResponsesRequest(body).complete({ conversation: [], items: new Map() }).request;

const chat: Read = (body) => parseChatRequest(body).request;
const tokenize: Read = (body) => parseTokenize(body).input as Conversation;
const messages: Read = (body) => parseMessagesRequest(body).request;
const countTokens: Read = (body) => parseCountTokens(body).conversation;
const responses: Read = complete;

const SAID = '{"role": "user", "content": "Hi"}';
const inCall = (text: string) =>
  `"messages": [${SAID}, {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": ${text}}}]}, {"role": "tool", "tool_call_id": "a", "content": "x"}]`;
const inTool = (text: string) => `"tools": [{"type": "function", "function": {"name": "f", "parameters": ${text}}}]`;
const asVariable = (text: string) => `"chat_template_kwargs": {"value": ${text}, "other": 1.0}`;

const PLACES: readonly [string, Read, (text: string) => string, typeof cases][] = [
  ['tools of chat', chat, (text) => `"messages": [${SAID}], ${inTool(text)}`, objects],
  ['variables of chat', chat, (text) => `"messages": [${SAID}], ${asVariable(text)}`, cases],
  ['documents of chat', chat, (text) => `"messages": [${SAID}], "documents": [${text}]`, documents],
  ['arguments of chat', chat, (text) => inCall(JSON.stringify(text)), objects],
  ['tools of tokenize', tokenize, (text) => `"messages": [${SAID}], ${inTool(text)}`, objects],
  ['variables of tokenize', tokenize, (text) => `"messages": [${SAID}], ${asVariable(text)}`, cases],
  [
    'tools of Messages',
    messages,
    (text) => `"max_tokens": 1, "messages": [${SAID}], "tools": [{"name": "f", "input_schema": ${text}}]`,
    schemas,
  ],
  [
    'calls of Messages',
    messages,
    (text) =>
      `"max_tokens": 1, "messages": [${SAID}, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": ${text}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]}]`,
    objects,
  ],
  [
    'variables of Messages',
    messages,
    (text) => `"max_tokens": 1, "thinking": {"type": "disabled"}, "messages": [${SAID}], ${asVariable(text)}`,
    cases,
  ],
  [
    'tools of count_tokens',
    countTokens,
    (text) => `"messages": [${SAID}], "tools": [{"name": "f", "input_schema": ${text}}]`,
    schemas,
  ],
  [
    'tools of Responses',
    responses,
    (text) => `"input": "Hi", "tools": [{"type": "function", "name": "f", "parameters": ${text}}]`,
    objects,
  ],
  [
    'calls of Responses',
    responses,
    (text) =>
      `"input": [${SAID}, {"type": "function_call", "call_id": "a", "name": "f", "arguments": ${JSON.stringify(text)}}, {"type": "function_call_output", "call_id": "a", "output": "x"}]`,
    objects,
  ],
  ['variables of Responses', responses, (text) => `"input": "Hi", ${asVariable(text)}`, cases],
];

describe.each(PLACES)('%s', (_, read, around, values) => {
  test('are written as Python writes them', async () => {
    expect(values.length).toBeGreaterThan(1);
    const made = values.map(async ([text]) => [
      text,
      await promptOf(read(parseJson(`{"model": "m", ${around(text)}}`))),
    ]);
    expect(await Promise.all(made)).toEqual(values);
  });
});

test('the result of a function of Responses, and examples beside the schema of Messages', async () => {
  const tool =
    '{"type": "function", "name": "f", "parameters": {"2": 1.0, "1": 2}, "output_schema": {"2": 1.0, "1": 2}}';
  expect(await promptOf(complete(parseJson(`{"model": "m", "input": "Hi", "tools": [${tool}]}`)))).toBe(
    '{"2": 1.0, "1": 2}{"2": 1.0, "1": 2}',
  );
  const withExamples = '{"name": "f", "input_schema": {"2": 1.0, "1": 2}, "input_examples": [{"b": 1.0, "1": 2}]}';
  const body = `{"model": "m", "max_tokens": 1, "messages": [${SAID}], "tools": [${withExamples}]}`;
  expect(await promptOf(messages(parseJson(body)))).toBe(
    '{"2": 1.0, "1": 2, "type": "object", "examples": [{"b": 1.0, "1": 2}]}',
  );
});

test('a background response is answered from storage as it was sent', async () => {
  for (const [text, wanted] of objects) {
    const body = `{"model": "m", "input": "Hi", "tools": [{"type": "function", "name": "f", "parameters": ${text}}]}`;
    const work = { request: complete(parseJson(body)) as never, head: {} };
    const stored = sealContent({ input: [], response: {}, events: null, work });
    const found = await findContent({ find: () => Promise.resolve(stored) }, { id: 'r', blob: 'b' });
    expect([text, await promptOf(found!.work!.request)]).toEqual([text, wanted]);
  }
});

test('the prompts of an evaluation are answered from storage as they were sent', async () => {
  const accept = createAcceptEvaluation({
    artifacts: {} as never,
    limits: { promptsMax: 1_000, samplesMax: 1, tokensMax: 1_000_000, promptBytesMax: 1_000_000 },
  });
  const prompts = objects.map(([text]) =>
    rowOf(readEvaluationLine(`{"messages": [${SAID}], ${inTool(text)}}`), 'prompt'),
  );
  const settings = { samples: 1, maxTokens: 1, chatTemplateKwargs: parseJson('{"value": 1.0}') };
  let stored = new Uint8Array();
  const blobs = {
    put: (_: string, bytes: unknown) => Promise.resolve({ sizeBytes: (stored = bytes as typeof stored).length }),
    find: () => Promise.resolve(stored),
  };
  const job = { jobId: 'j', modelId: 'm' };
  const { body } = await accept({} as never, { settings, tools: null, prompts } as never);
  await putEvaluationBody(blobs, job, body);
  const read = await readEvaluationBody(blobs, job);
  expect(() => JSON.stringify(read)).not.toThrow();
  const made = read.prompts.map(({ messages: said, tools }) =>
    written({ messages: said, tools, variables: read.settings.chatTemplateKwargs, addGenerationPrompt: true }),
  );
  expect(made).toEqual(objects.map(([, text]) => `${text}1.0`));
});

const ANSWERED = '{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}';

interface Row {
  readonly messages: RenderRequest['messages'];
  readonly tools?: RenderRequest['tools'];
  readonly variables?: RenderRequest['variables'];
}

const rowOf = (read: unknown, of: 'row' | 'prompt'): Row => {
  const row = (read as Record<string, Row | undefined>)[of];
  if (!row) throw new Error(JSON.stringify(read));
  return row;
};
const writtenRow = ({ messages: said, tools, variables }: Row): string =>
  written({ messages: said, tools, variables, addGenerationPrompt: false });

test.each<[string, (text: string) => string, (line: string) => Row, typeof cases]>([
  [
    'tools of SFT',
    (text) => `"messages": [${ANSWERED}], ${inTool(text)}`,
    (line) => rowOf(readSftLine(line), 'row'),
    objects,
  ],
  [
    'tools of SFT as text',
    (text) =>
      `"messages": [${ANSWERED}], "tools": ${JSON.stringify(`[{"type": "function", "function": {"name": "f", "parameters": ${text}}}]`)}`,
    (line) => rowOf(readSftLine(line), 'row'),
    objects,
  ],
  [
    'variables of SFT',
    (text) => `"messages": [${ANSWERED}], ${asVariable(text)}`,
    (line) => rowOf(readSftLine(line), 'row'),
    cases,
  ],
  [
    'calls of SFT',
    (text) => `${inCall(text).slice(0, -1)}, {"role": "assistant", "content": "Ho"}]`,
    (line) => rowOf(readSftLine(line), 'row'),
    objects,
  ],
  [
    'tools of DPO',
    (text) =>
      `"prompt": [${SAID}], "chosen": [{"role": "assistant", "content": "a"}], "rejected": [{"role": "assistant", "content": "b"}], ${inTool(text)}`,
    (line) => ({ messages: [], ...(rowOf(readPreferencePair(line), 'row') as object) }),
    objects,
  ],
  [
    'tools of evaluations',
    (text) => `"messages": [${SAID}], ${inTool(text)}`,
    (line) => rowOf(readEvaluationLine(line), 'prompt'),
    objects,
  ],
])('%s are written as Python writes them', (_, around, read, values) => {
  expect(values.map(([text]) => [text, writtenRow(read(`{${around(text)}}`))])).toEqual(values);
});

const ODD_TOOL =
  '{"weight": 1e3, "function": {"priority": 1.0, "name": "f", "strict": null, "parameters": {"2": 9007199254740993, "1": 2.0}, "description": "d"}, "type": "function"}';
const AS_WRITTEN = ODD_TOOL.replace('1e3', '1000.0');
/** Declared fields come first, as in vLLM. */
const AS_REQUESTED =
  '{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"2": 9007199254740993, "1": 2.0}, "priority": 1.0}, "weight": 1000.0}';
const wholeTool = createChatTemplate({ default: '{{ tools[0] | tojson }}' }, new Map(), systemClock);
const toolOf = ({ messages: said, tools }: Row): string =>
  wholeTool.render({ messages: said, tools, addGenerationPrompt: false });

test('whole tools: as they were written in rows, and with their fields in order in requests', () => {
  const tools = `"tools": [${ODD_TOOL}]`;
  expect(toolOf(rowOf(readSftLine(`{"messages": [${ANSWERED}], ${tools}}`), 'row'))).toBe(AS_WRITTEN);
  const pair = `{"prompt": "", "chosen": [${ANSWERED}], "rejected": [${SAID}, {"role": "assistant", "content": "x"}], ${tools}}`;
  const { row } = readPreferencePair(pair) as unknown as { row: Row };
  expect(toolOf({ ...row, messages: [] })).toBe(AS_WRITTEN);
  expect(toolOf(rowOf(readEvaluationLine(`{"messages": [${SAID}], ${tools}}`), 'prompt'))).toBe(AS_REQUESTED);
  const asked = chat(parseJson(`{"model": "m", "messages": [${SAID}], ${tools}}`));
  expect(toolOf(asked as Row)).toBe(AS_REQUESTED);
});

test('tools of trajectories without token ids, after storage; other numbers are as JavaScript has them', async () => {
  const history = `"messages_and_choices": [${SAID}, {"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}], "tools": [${ODD_TOOL}]`;
  const call = `{"request": {"messages": [${SAID}], "tools": [${ODD_TOOL}]}, "response": {"choices": [{"message": {"role": "assistant", "content": "x"}}]}}`;
  const body = `{"model_id": "m", "trajectory_groups": [{"trajectories": [
    {${history}, "additional_histories": [{${history}}], "reward": 1.0},
    {"exchanges": {"chat_completions": [${call}]}, "reward": 0, "metadata": {"tools": [12345678901234567890, 1.0]}}]}]}`;
  const parser = createTrajectoryBodyParser();
  await parser.write(Buffer.from(body));
  const { trajectory_groups: groups } = (await parser.end()) as { trajectory_groups: unknown[] };
  const group = JSON.parse(JSON.stringify(parse(trajectoryGroup, groups[0], 'body'))) as TrajectoryGroup;
  const seen: string[] = [];
  const encoder = {
    renderPrompt: (said: Row['messages'], { tools }: Pick<Row, 'tools'>) => toolOf({ messages: said, tools }),
    encode: (text: string) => {
      seen.push(text);
      return [1];
    },
    vocabSize: 2,
  } as unknown as ConversationEncoder;
  for (const { turns, ...context } of group.trajectories.flatMap(({ histories }) => histories))
    await tokenizeHistory(
      { ...context, turns: turns.map((turn) => ({ ...turn, tokens: [1], logprobs: [-1] }) as Turn) },
      encoder,
    );
  expect(seen).toEqual(Array(3).fill(AS_REQUESTED));
});
