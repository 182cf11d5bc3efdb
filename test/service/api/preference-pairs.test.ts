// Lines of preference data: the accepted forms, and the errors for the others.
import { expect, test } from 'vitest';
import { readPreferencePair } from '#rows/dpo';

const said = (role: string, content: string) => ({ role, content });
const prompt = [said('system', 'Be brief.'), said('user', 'What is 2 + 2?')];
const chosen = [said('assistant', '4')];
const rejected = [said('assistant', 'It is four.')];
const tools = [{ type: 'function', function: { name: 'add' } }];
const pair = { prompt, chosen, rejected, tools: null };

const read = (value: unknown) => readPreferencePair(JSON.stringify(value));

test.each([
  ['a prompt and two answers', { prompt, chosen, rejected }],
  ['two conversations that begin alike', { chosen: [...prompt, ...chosen], rejected: [...prompt, ...rejected] }],
  [
    'two conversations, and the text of their prompt',
    { prompt: 'What is 2 + 2?', chosen: [...prompt, ...chosen], rejected: [...prompt, ...rejected] },
  ],
  ["OpenAI's", { input: { messages: prompt }, preferred_output: chosen, non_preferred_output: rejected }],
])('%s', (_, row) => {
  expect(read(row)).toEqual({ row: pair });
});

test('tools are kept in both formats', () => {
  const withTools = { row: { ...pair, tools } };
  expect(read({ prompt, chosen, rejected, tools })).toEqual(withTools);
  expect(read({ prompt, chosen, rejected, tools: JSON.stringify(tools) })).toEqual(withTools);
  const input = { messages: prompt, tools, parallel_tool_calls: true };
  expect(read({ input, preferred_output: chosen, non_preferred_output: rejected })).toEqual({
    ...withTools,
    unused: [{ of: 'row', field: 'input.parallel_tool_calls' }],
  });
});

test('fields that no job uses are named, and null counts as absent', () => {
  expect(read({ prompt, chosen: [{ ...chosen[0], mood: 'calm' }], rejected, score_chosen: 8, source: null })).toEqual({
    row: { ...pair, chosen: [{ ...chosen[0], mood: 'calm' }] },
    unused: [
      { of: 'row', field: 'score_chosen' },
      { of: 'message', field: 'mood' },
    ],
  });
});

test.each([
  ['plain text', { prompt: 'What? ', chosen: '4', rejected: '5' }, { prompt: 'What? ', chosen: '4', rejected: '5' }],
  [
    'plain text whose beginning is the prompt',
    { chosen: 'The sky is blue.', rejected: 'The sky is green.' },
    { prompt: 'The sky is', chosen: ' blue.', rejected: ' green.' },
  ],
  ['answers of one message each', { prompt, chosen: chosen[0], rejected: rejected[0] }, pair],
  ['the texts of the answers', { prompt, chosen: '4', rejected: 'It is four.' }, pair],
  [
    "ShareGPT's conversation and two answers",
    {
      system: 'Be brief.',
      conversations: [{ from: 'human', value: 'What is 2 + 2?' }],
      chosen: { from: 'gpt', value: '4' },
      rejected: { from: 'gpt', value: 'It is four.' },
    },
    pair,
  ],
])('%s is a pair', (_, row, expected) => {
  expect(read(row)).toEqual({ row: expected });
});

test('an answer may have several turns, also if one answer is a prefix of the other', () => {
  const longer = [...chosen, said('user', 'Sure?'), said('assistant', 'Yes.')];
  expect(read({ prompt, chosen: longer, rejected })).toEqual({ row: { ...pair, chosen: longer } });
  expect(read({ chosen: [...prompt, ...chosen], rejected: [...prompt, ...longer] })).toEqual({
    row: { ...pair, rejected: longer },
  });
});

test.each([
  ['is not JSON', '{"prompt"', 'is not JSON'],
  ['lacks an answer', { prompt, chosen }, 'rejected: is missing'],
  ['is a row of SFT', { messages: [...prompt, ...chosen] }, 'prompt: '],
  ['has an empty prompt', { prompt: [], chosen, rejected }, 'prompt: '],
  ['has a message without a role', { prompt, chosen: [{ content: '4' }], rejected }, 'chosen.0.role: is missing'],
  [
    'has a prompt of plain text',
    { prompt: 'What is 2 + 2?', chosen, rejected },
    'prompt is a text that is not in the messages',
  ],
  ['has one answer of plain text', { prompt: 'What?', chosen: '4', rejected }, 'rejected: '],
  ['has texts that share nothing', { chosen: '4', rejected: '5' }, 'there is no prompt: send it'],
  [
    'leaves out a turn of an answer',
    { prompt, chosen: [{ ...chosen[0], weight: 0 }], rejected },
    'chosen.0: has weight 0 or train false, but all turns of an answer are compared',
  ],
  ['has conversations that share nothing', { chosen, rejected }, 'there is no prompt: send its messages'],
  [
    'repeats the prompt',
    { prompt, chosen: [...prompt, ...chosen], rejected },
    'chosen begins with a message of the role system',
  ],
  [
    'ends with a question',
    { prompt, chosen, rejected: [...rejected, prompt[1]] },
    'rejected ends with a message of the role user',
  ],
  ["is Alpaca's", { instruction: 'Add.', input: '2 + 2', chosen: '4', rejected: '5' }, 'has instruction, a form that'],
  ['prefers nothing', { prompt, chosen, rejected: chosen }, 'chosen and rejected are the same'],
  [
    "is OpenAI's and lacks an answer",
    { input: { messages: prompt }, preferred_output: chosen },
    'non_preferred_output: is missing',
  ],
])('the error for a line that %s says so', (_, value, problem) => {
  const line = typeof value === 'string' ? value : JSON.stringify(value);
  expect(readPreferencePair(line)).toEqual({ problem: expect.stringContaining(problem) as string });
});
