// Lines of SFT data: each form that data sets have, what is trained of it, and the errors for the others.
import { expect, test } from 'vitest';
import type { ConversationRow } from '#domain/sft';
import { readSftLine } from './sft.ts';

const said = (role: string, content: string) => ({ role, content });
const [question, answer] = [said('user', 'What is 2 + 2?'), said('assistant', '4')];
const messages = [question, answer];
const call = { name: 'add', arguments: { a: 2, b: 2 } };
const tool = {
  type: 'function',
  function: { name: 'add', parameters: { properties: { arguments: { type: 'object' } } } },
};

const read = (value: unknown) => readSftLine(typeof value === 'string' ? value : JSON.stringify(value));
const rowOf = (value: unknown): ConversationRow => {
  const line = read(value);
  if ('problem' in line || !('messages' in line.row)) throw new Error(JSON.stringify(line));
  return line.row;
};

test.each([
  ["OpenAI's", { messages }],
  [
    "ShareGPT's",
    {
      conversations: [
        { from: 'human', value: 'What is 2 + 2?' },
        { from: 'gpt', value: '4' },
      ],
    },
  ],
  ['conversations in the form of chat', { conversations: messages }],
  ['a trajectory', { messages_and_choices: [question, { message: { content: '4' }, finish_reason: 'stop' }] }],
  ['one with nulls', { messages_and_choices: [question, { role: null, message: { role: null, content: '4' } }] }],
])('%s is a conversation', (_, row) => {
  expect(read(row)).toEqual({ row: { messages, tools: null } });
});

test("TRL's prompt and completion are a conversation whose prompt is context", () => {
  const row = { messages, tools: null, followsPrompt: true };
  expect(read({ prompt: [question], completion: [answer] })).toEqual({ row });
});

test('plain text, and a prompt with its completion, are trained without the template', () => {
  expect(read({ text: 'Once upon a time' })).toEqual({ row: { prompt: '', completion: 'Once upon a time' } });
  expect(read({ prompt: 'Q: ', completion: 'A', tools: [tool] })).toEqual({
    row: { prompt: 'Q: ', completion: 'A' },
    unused: [{ of: 'row', field: 'tools' }],
  });
});

test.each([
  ['weight', 0, 1],
  ['train', false, true],
  ['training', false, true],
  ['loss', false, true],
])('%s says which assistant turns are trained', (field, no, yes) => {
  const turns = [{ ...question, [field]: no }, { ...answer, [field]: no }, question, { ...answer, [field]: yes }];
  expect(read({ messages: turns })).toEqual({
    row: { messages: [...messages, ...messages], tools: null, untrained: [1] },
  });
});

test('turns of a prompt are context, those of the completion are trained', () => {
  const completion = [answer, question, { ...answer, weight: 0 }, question, answer];
  expect(rowOf({ prompt: [question, answer, question], completion }).untrained).toEqual([1, 5]);
});

test('arguments that are objects stay as they are written, results need no id, and tools may be JSON text', () => {
  const line = `{"tools": ${JSON.stringify(JSON.stringify([tool]))}, "messages": [{"role": "user", "content": "say \\"arguments\\": {"}, {"role": "assistant", "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"b": 1.0, "a": 12345678901234567890, "s": "}"}}}]}, {"role": "tool", "name": "add", "content": "3"}, {"role": "assistant", "content": "3"}]}`;
  const row = rowOf(line);
  expect(row.messages[1]!.tool_calls).toEqual([
    { type: 'function', function: { name: 'add', arguments: '{"b": 1.0, "a": 12345678901234567890, "s": "}"}' } },
  ]);
  expect(row.messages[2]).toEqual({ role: 'tool', name: 'add', content: '3' });
  expect(row.tools).toEqual([tool]);
});

test.each([
  ['a bare call', { tool_calls: [call] }],
  ["OpenAI's older call", { function_call: call }],
])('%s becomes a tool call', (_, calling) => {
  const row = rowOf({
    messages: [question, { role: 'assistant', content: null, ...calling }],
    functions: [tool.function],
  });
  expect(row.messages[1]!.tool_calls).toEqual([
    { type: 'function', function: { name: 'add', arguments: '{"a": 2, "b": 2}' } },
  ]);
  expect(row.tools).toEqual([tool]);
});

test("ShareGPT's calls, results and system message", () => {
  const conversations = [
    { from: 'human', value: '2 + 2?' },
    { from: 'function_call', value: '{"name": "add", "arguments": {"a": 2.0}}' },
    { from: 'observation', value: '4' },
    { from: 'gpt', value: 'It is 4.' },
  ];
  expect(rowOf({ system: 'Add.', conversations, tools: JSON.stringify([tool.function]) })).toEqual({
    messages: [
      said('system', 'Add.'),
      said('user', '2 + 2?'),
      {
        ...said('assistant', ''),
        tool_calls: [{ type: 'function', function: { name: 'add', arguments: '{"a": 2.0}' } }],
      },
      said('tool', '4'),
      said('assistant', 'It is 4.'),
    ],
    tools: [tool],
  });
});

test('variables of the template belong to the row', () => {
  expect(rowOf({ messages, chat_template_kwargs: { enable_thinking: false } }).variables).toEqual({
    enable_thinking: false,
  });
});

test('fields that no job uses are named, and null counts as absent', () => {
  const row = {
    messages: [
      question,
      { ...answer, content: [{ type: 'text', text: 'x', train: false }], mood: 'calm', refusal: null },
    ],
    parallel_tool_calls: false,
    id: 7,
    x: null,
  };
  expect(read(row)).toMatchObject({
    unused: [
      { of: 'row', field: 'parallel_tool_calls' },
      { of: 'row', field: 'id' },
      { of: 'message', field: 'content.train' },
      { of: 'message', field: 'mood' },
    ],
  });
});

const system = said('system', 'Add.');
const spoken = [
  { from: 'human', value: question.content },
  { from: 'gpt', value: answer.content },
];

test.each([
  ['ShareGPT', { system: 'Add.', conversations: spoken }],
  ['Axolotl', { system: 'Add.', messages }],
  ['TRL', { system: 'Add.', prompt: [question], completion: [answer] }],
])('a system message beside the conversation of %s opens it', (_, row) => {
  expect(rowOf(row).messages).toEqual([system, ...messages]);
  expect(read(row)).not.toHaveProperty('unused');
});

test('the conversation has its own system message before the one beside it', () => {
  expect(read({ system: 'Subtract.', conversations: [{ from: 'system', value: 'Add.' }, ...spoken] })).toEqual({
    row: { messages: [system, ...messages], tools: null },
    unused: [{ of: 'row', field: 'system' }],
  });
});

test.each([
  [
    { messages: null, conversations: null, prompt: 'Q', completion: 'A' },
    { prompt: 'Q', completion: 'A' },
  ],
  [
    { chosen: null, rejected: null, text: 'A' },
    { prompt: '', completion: 'A' },
  ],
])('a form whose fields are null is not the form of the row', (columns, row) => {
  expect(read(columns)).toEqual({ row });
});

test("an older call beside an empty list of calls, and Llama's parameters, are calls", () => {
  const older = { role: 'assistant', content: null, function_call: call, tool_calls: [] };
  const llama = { role: 'assistant', content: null, tool_calls: [{ name: 'add', parameters: call.arguments }] };
  const calls = [{ type: 'function', function: { name: 'add', arguments: '{"a": 2, "b": 2}' } }];
  for (const turn of [older, llama])
    expect(rowOf({ messages: [question, turn] }).messages[1]!.tool_calls).toEqual(calls);
});

test('functions of the Responses API are tools, as in serving', () => {
  const own = { name: 'add', description: 'Adds.', parameters: tool.function.parameters, strict: true };
  const sent = { type: 'function', output_schema: null, ...own };
  expect(rowOf({ messages, tools: [sent] }).tools).toEqual([{ type: 'function', function: own }]);
});

test('null within messages, calls, parts and tools counts as absent, but not within arguments', () => {
  const nulls = { name: null, weight: null, tool_calls: null, reasoning_content: null };
  const called = { id: null, type: null, function: { name: 'add', arguments: { a: null }, parameters: null } };
  const turns = [
    { ...nulls, role: null, from: 'human', value: 'Add.' },
    { ...nulls, role: 'assistant', from: null, content: null, tool_calls: [called] },
    { ...nulls, role: 'tool', content: [{ type: 'text', text: '4', image_url: null }] },
    { ...nulls, ...answer },
  ];
  const plainCall = { type: 'function', function: { name: 'add', arguments: '{"a": null}' } };
  expect(read({ messages: turns, tools: [{ ...tool, type: null }] })).toEqual({
    row: {
      messages: [
        said('user', 'Add.'),
        { role: 'assistant', tool_calls: [plainCall] },
        { role: 'tool', content: [{ type: 'text', text: '4' }] },
        answer,
      ],
      tools: [tool],
    },
  });
});

test('thinking as a part of an answer is its reasoning, as in the Messages API', () => {
  const thinking = { type: 'thinking', thinking: 'two and two', signature: 'x' };
  const turn = { role: 'assistant', content: [thinking, { type: 'text', text: '4' }] };
  const reasoning = { reasoning: 'two and two', reasoning_content: 'two and two', thinking: 'two and two' };
  expect(read({ messages: [question, turn] })).toEqual({
    row: { messages: [question, { ...turn, content: [{ type: 'text', text: '4' }], ...reasoning }], tools: null },
    unused: [
      { of: 'message', field: 'content.signature' },
      { of: 'message', field: 'content.thinking' },
    ],
  });
});

test("the schema of Anthropic's tools are parameters", () => {
  const { name, parameters } = tool.function;
  expect(rowOf({ messages, tools: [{ name, input_schema: parameters }] }).tools).toEqual([tool]);
});

test.each([
  ['a refusal beside content', [question, { ...answer, refusal: 'No.' }], 'refusal'],
  ['beside a call', [question, { role: 'assistant', tool_calls: [{ ...call, mood: 1 }] }], 'tool_calls.mood'],
  [
    'within a call',
    [question, { role: 'assistant', tool_calls: [{ function: { ...call, weight: 0 } }] }],
    'tool_calls.function.weight',
  ],
  [
    'a refusal in a text part',
    [question, { ...answer, content: [{ type: 'text', text: '4', refusal: 'No.' }] }],
    'content.refusal',
  ],
])('%s is named', (_, turns, field) => {
  expect(read({ messages: turns })).toMatchObject({ unused: [{ of: 'message', field }] });
});

test.each([
  [
    'an answer under another name',
    { messages: [question, { role: 'assistant', text: '4' }] },
    'messages.1.content: is missing',
  ],
  [
    'an answer of null',
    { conversations: [spoken[0], { from: 'gpt', value: null }] },
    'conversations.1.content: is missing',
  ],
  [
    'a call in both forms',
    { messages: [question, { role: 'assistant', function_call: call, tool_calls: [call] }] },
    'messages.1.function_call: stands beside tool_calls',
  ],
  ['tools in both forms', { messages, tools: [tool], functions: [tool.function] }, 'has tools, and functions'],
  ['an answer that is not wanted', { messages, label: false }, 'has label false'],
  ["KTO's label as a number", { prompt: 'Q', completion: 'A', label: 0 }, 'has label 0'],
  ['a row of weight 0', { messages, weight: 0 }, 'has weight 0: it is not to be learnt'],
  ['a row without loss', { messages, loss: false }, 'has loss false: it is not to be learnt'],
  [
    'arguments under both names',
    { messages: [question, { role: 'assistant', tool_calls: [{ function: { ...call, parameters: {} } }] }] },
    'messages.1.tool_calls.0.function.parameters: stands beside arguments',
  ],
  [
    'a schema under both names',
    { messages, tools: [{ name: 'add', parameters: {}, input_schema: {} }] },
    'tools.0.input_schema: stands beside parameters',
  ],
  ['a built-in tool', { messages, tools: [{ type: 'web_search', name: 'w' }] }, 'tools.0.type: is "web_search"'],
  [
    'reasoning in two texts',
    { messages: [question, { ...answer, reasoning_content: 'a', reasoning: 'b' }] },
    'messages.1.reasoning: is another text than reasoning_content',
  ],
  ["Alpaca's row", { instruction: 'Add.', input: '2 + 2', output: '4' }, 'has instruction, a form that is not read'],
  [
    "Vertex's row",
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    'has contents, a form that is not read: write messages',
  ],
  [
    "Bedrock's row",
    { schemaVersion: 'bedrock-conversation-2024', messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
    'messages.0.content.0.type: is missing: a part is',
  ],
  [
    'a message behind a system beside it',
    { system: 'S', prompt: [question, { ...answer, weight: 1 }, question], completion: [answer] },
    'prompt.1: has weight 1',
  ],
  ["Axolotl's pair", { messages: [question], chosen: answer, rejected: answer }, 'is a preference pair'],
  ['a weight between', { messages: [question, { ...answer, weight: 0.5 }] }, 'messages.1.weight: must be 0 or 1'],
  [
    'a user turn to train',
    { messages: [{ ...question, train: true }, answer] },
    'messages.0.train: asks to train a message of the role user',
  ],
  [
    'a turn of a prompt to train',
    { prompt: [question, { ...answer, weight: 1 }, question], completion: [answer] },
    'prompt.1: has weight 1 or train true, but a prompt is context',
  ],
  ['a part of a turn to train', { messages: [question, { ...answer, train_detail: [] }] }, 'messages.1.train_detail'],
  ['an unknown speaker', { conversations: [{ from: 'narrator', value: 'x' }] }, 'conversations.0.from: is "narrator"'],
  [
    'a call that is no JSON',
    { conversations: [{ from: 'function_call', value: 'add(2)' }] },
    'conversations.0.value: must be the JSON text of a call',
  ],
  [
    'a speaker behind a system message',
    {
      system: 'S',
      conversations: [
        { from: 'gpt', value: 'x' },
        { from: 'narrator', value: 'x' },
      ],
    },
    'conversations.1.from: is "narrator"',
  ],
  [
    'a row of no form',
    { question: 'Q', answer: 'A' },
    'has none of the fields messages, conversations, prompt with completion, and text: write messages',
  ],
  ['no messages', { messages: [] }, 'messages: must not be empty'],
  [
    'more messages than a template writes in time',
    { messages: Array.from({ length: 2_002 }, (_, i) => messages[i % 2]) },
    'messages: must have at most 2000 entries',
  ],
  ['a user without content', { messages: [{ role: 'user' }, answer] }, 'messages.0.content: is missing'],
  [
    'a call by the user',
    { messages: [{ ...question, tool_calls: [{ function: { name: 'add' } }] }, answer] },
    'messages.0.tool_calls: holds a call, which belongs to a message of the assistant, not of user',
  ],
  [
    'a call in the older form by a tool',
    { messages: [question, { role: 'tool', content: '3', function_call: { name: 'add' } }, answer] },
    'messages.1.tool_calls: holds a call, which belongs to a message of the assistant, not of tool',
  ],
  [
    'half of a character',
    { messages: [question, { role: 'assistant', content: '\ud83d' }] },
    'messages.1.content: has half of a character',
  ],
  ['tools that are no list', { messages, tools: 'add' }, 'tools: must be a list of tools'],
  [
    'a variable that the server sets',
    { messages, chat_template_kwargs: { messages: [] } },
    'chat_template_kwargs.messages',
  ],
  [
    'an option of apply_chat_template',
    { messages, chat_template_kwargs: { chat_template: 'x' } },
    'chat_template_kwargs.chat_template',
  ],
  [
    'a completion that asks',
    { prompt: [question], completion: [question, answer] },
    'completion begins with a message of the role user',
  ],
  ['a completion in another form', { prompt: 'Q', completion: [answer] }, 'prompt and completion must both be texts'],
  ['a completion that is not wanted', { prompt: 'Q', completion: 'A', label: false }, 'has label false'],
  ['nothing to learn', { text: '' }, 'text is empty'],
  ["Axolotl's segments", { segments: [] }, 'has segments, a form that is not read: write messages'],
])('%s is refused with row and field', (_, row, problem) => {
  expect(read(row)).toEqual({ problem: expect.stringContaining(problem) as string });
});
