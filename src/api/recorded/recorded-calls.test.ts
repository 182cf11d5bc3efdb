// Calls of each protocol that ART records → histories, through the schema of trajectories. The forms are those of ART 0.5.23's
// `model_dump(mode="json")`; test/python/clients/art.test.ts has the package itself.
import { expect, test } from 'vitest';
import { trajectoryGroup } from '#rows/trajectory';
import { check } from '#validation/parse';
import { readRecorded } from './recorded-calls.ts';

async function read(exchanges: object) {
  const trajectory = { exchanges, reward: 1 };
  await readRecorded(trajectory, () => Promise.resolve());
  return check(trajectoryGroup, { trajectories: [trajectory] });
}

async function histories(exchanges: object) {
  const { data, error } = await read(exchanges);
  expect(error).toBeUndefined();
  return data!.trajectories[0]!.histories;
}

const shown = async (exchanges: object) =>
  (await histories(exchanges)).map(({ turns }) =>
    turns.map((turn) =>
      turn.kind === 'sampled' ? `*${turn.message.content as string} ${turn.answer?.id}` : turn.message.content,
    ),
  );

const message = (id: string, messages: object[], content: object[], fields: object = {}) => ({
  request: { model: 'm', max_tokens: 9, messages, ...fields },
  response: { id, type: 'message', role: 'assistant', content, stop_reason: 'end_turn' },
  start_time: '2026-01-01T00:00:00Z',
  end_time: '2026-01-01T00:00:01Z',
});
const user = (content: string) => ({ role: 'user', content });
const said = (text: string) => ({ type: 'text', text, citations: null, parsed_output: null });

test('messages: an answer that was sent back continues its history, streamed or not; a fork has the shared answer as context', async () => {
  const system = 'Be brief.';
  const back = { role: 'assistant', content: [{ type: 'text', text: 'b' }] };
  const calls = [
    message('msg_1', [user('a')], [said('b')], { system }),
    message('msg_2', [user('a'), back, user('c')], [said('d')], { system, stream: true }),
    message('msg_3', [user('a'), back, user('e')], [said('f')], { system }),
  ];
  expect(await shown({ messages: calls })).toEqual([
    [system, 'a', '*b msg_1', 'c', '*d msg_2'],
    [system, 'a', 'b', 'e', '*f msg_3'],
  ]);
});

test('messages: calls and tools have the form of chat, and carried tokens are trained', async () => {
  const use = { type: 'tool_use', id: 'c1', name: 'find', input: { q: 'x' }, caller: null };
  const call = message('msg_1', [user('a')], [use], { tools: [{ name: 'find', input_schema: { type: 'object' } }] });
  Object.assign(call.response, {
    stop_reason: 'tool_use',
    token_ids: [7, 8],
    logprobs: [-1, -2],
    prompt_token_ids: [5],
  });
  const [history] = await histories({ messages: [call] });
  expect(history!.tools).toMatchObject([{ function: { name: 'find' } }]);
  expect(history!.turns[1]).toMatchObject({
    message: { tool_calls: [{ function: { name: 'find', arguments: '{"q":"x"}' } }] },
    tokens: [7, 8],
    logprobs: [-1, -2],
    promptTokenIds: [5],
  });
});

test('a call that the model chose is not taken for one that it had to make', async () => {
  const use = { type: 'tool_use', id: 'c1', name: 'find', input: {} };
  const tools = [{ name: 'find', input_schema: { type: 'object' } }];
  const ofMessages = message('msg_1', [user('a')], [use], { tools });
  Object.assign(ofMessages.response, { stop_reason: 'tool_use' });
  const ofResponses = response('r1', 'a', '', { tools: [{ type: 'function', name: 'find', parameters: {} }] });
  const called = { type: 'function_call', id: 'fc1', call_id: 'c1', name: 'find', arguments: '{}' };
  Object.assign(ofResponses.response, { output: [called] });
  const read = await histories({ messages: [ofMessages], responses: [ofResponses] });
  for (const { turns } of read) {
    expect(turns[1]).toMatchObject({ finishReason: 'tool_calls', message: { tool_calls: [{}] } });
    expect(turns[1]).not.toHaveProperty('isConstrained');
  }
  expect(read).toHaveLength(2);
});

const response = (id: string, input: unknown, text: string, fields: object = {}) => ({
  request: { model: 'm', input, ...fields },
  response: {
    id,
    status: 'completed',
    output: [
      {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
  },
});

test('responses: the conversation that previous_response_id names comes from the calls before', async () => {
  const calls = [
    response('r1', 'a', 'b'),
    response('r2', 'c', 'd', { previous_response_id: 'r1' }),
    response('r3', 'e', 'f', { previous_response_id: 'r2' }),
    response('r4', 'x', 'y', { previous_response_id: 'r1' }),
    response('r5', 'p', 'q', { previous_response_id: 'unknown' }),
  ];
  expect(await shown({ responses: calls })).toEqual([
    ['a', '*b r1', 'c', '*d r2', 'e', '*f r3'],
    ['a', 'b', 'x', '*y r4'],
    ['p', '*q r5'],
  ]);
});

test('every protocol: the step that an answer names is that of its turn', async () => {
  const ofMessages = message('msg_1', [user('a')], [said('b')]);
  Object.assign(ofMessages.response, { policy_step: 4 });
  const ofResponses = response('r1', 'a', 'b');
  Object.assign(ofResponses.response, { policy_step: 5 });
  const exchanges = {
    chat_completions: [
      {
        request: { messages: [user('a')] },
        response: { id: 'c1', choices: [{ message: { role: 'assistant', content: 'b' }, policy_step: 6 }] },
      },
    ],
    completions: [
      { request: { prompt: 'a' }, response: { id: 'd1', choices: [{ index: 0, text: 'b', policy_step: 7 }] } },
    ],
    messages: [ofMessages],
    responses: [ofResponses],
  };
  const steps = (await histories(exchanges)).flatMap(({ turns }) =>
    turns.flatMap((turn) => (turn.kind === 'sampled' ? [turn.policyStep] : [])),
  );
  expect(steps.sort()).toEqual([4, 5, 6, 7]);
});

test('completions: each choice is trained by its id, and by its tokens if those of its prompt are known', async () => {
  const choices = [
    { index: 0, text: 'b', finish_reason: 'length', token_ids: [7], logprobs: { token_logprobs: [-1] } },
    { index: 1, text: 'c', finish_reason: 'stop' },
  ];
  const call = (prompt: unknown, fields: object = {}) => ({
    request: { model: 'm', prompt, ...fields },
    response: { id: 'cmpl-1', choices },
  });
  const tokens = async (exchange: object) =>
    (await histories({ completions: [exchange] })).map(({ turns }) =>
      turns.map((turn) => turn.kind === 'sampled' && [turn.answer, turn.tokens, turn.logprobs, turn.promptTokenIds]),
    );
  const [first, second] = [
    { id: 'cmpl-1', index: 0 },
    { id: 'cmpl-1', index: 1 },
  ];
  expect(await tokens(call([1, 2]))).toEqual([[[first, [7], [-1], [1, 2]]], [[second, null, null, null]]]);
  expect(await tokens(call('a'))).toEqual([[[first, null, null, null]], [[second, null, null, null]]]);
  expect(await tokens(call([1, 2], { echo: true }))).toEqual([
    [[first, null, null, null]],
    [[second, null, null, null]],
  ]);
});

test.each([
  [{ responses: [{}] }, ['exchanges', 'responses', 0], 'must have a request'],
  [
    { messages: [message('m', [], [said('b')], { tools: 5 })] },
    ['exchanges', 'messages', 0, 'tools'],
    'cannot be read',
  ],
  [
    { responses: [response('r', [{ type: 'item_reference', id: 'i' }], 'b')] },
    ['exchanges', 'responses', 0],
    'has the item i',
  ],
  [{ messages: Array.from({ length: 1_001 }, () => ({})) }, ['exchanges'], 'at most 1000'],
])('%# is refused in words, at its place', async (exchanges, path, words) => {
  const [issue] = (await read(exchanges)).error!.issues;
  expect(issue!.path.slice(2)).toEqual(path);
  expect(issue!.message).toContain(words);
});
