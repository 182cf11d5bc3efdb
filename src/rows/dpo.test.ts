// Lines of DPO data: where the prompt of each form is, and what is used of the row.
import { expect, test } from 'vitest';
import { readPreferencePair } from './dpo.ts';

const said = (role: string, content: string) => ({ role, content });
const [question, good, bad] = [said('user', '2 + 2?'), said('assistant', '4'), said('assistant', '5')];
const pair = { prompt: [question], chosen: [good], rejected: [bad], tools: null };
const tool = { type: 'function', function: { name: 'add' } };
const read = (row: object) => readPreferencePair(JSON.stringify(row));

test.each([
  ["TRL's", { prompt: [question], chosen: [good], rejected: [bad] }],
  ["Axolotl's", { messages: [question], chosen: good, rejected: bad }],
  [
    "LLaMA-Factory's",
    { conversations: [{ from: 'human', value: '2 + 2?' }], chosen: { from: 'gpt', value: '4' }, rejected: bad },
  ],
  ['whole conversations', { chosen: [question, good], rejected: [question, bad], messages: null }],
  ["OpenAI's", { input: { messages: [question] }, preferred_output: [good], non_preferred_output: [bad] }],
])('%s is a pair', (_, row) => {
  expect(read(row)).toEqual({ row: pair });
});

test('a system message beside the prompt opens it', () => {
  const prompt = [said('system', 'Add.'), question];
  expect(read({ system: 'Add.', prompt: [question], chosen: [good], rejected: [bad] })).toEqual({
    row: { ...pair, prompt },
  });
});

test('a system message beside whole conversations opens both', () => {
  const prompt = [said('system', 'Add.'), question];
  const row = { system: 'Add.', chosen: [question, good], rejected: [question, bad] };
  expect(read(row)).toEqual({ row: { ...pair, prompt } });
});

test("UltraFeedback's pairs beside messages are read as pairs", () => {
  const messages = [question, good];
  expect(read({ prompt: '2 + 2?', messages, chosen: messages, rejected: [question, bad] })).toEqual({
    row: pair,
    unused: [{ of: 'row', field: 'messages' }],
  });
});

test('messages that have the answer are not the prompt', () => {
  expect(read({ messages: [question, good], chosen: [question, good], rejected: [question, bad] })).toEqual({
    row: pair,
    unused: [{ of: 'row', field: 'messages' }],
  });
});

test("tools beside OpenAI's input are named", () => {
  const row = { input: { messages: [question] }, preferred_output: [good], non_preferred_output: [bad], tools: [tool] };
  expect(read(row)).toEqual({ row: pair, unused: [{ of: 'row', field: 'tools' }] });
});

test('a prompt is context: it cannot ask to be trained', () => {
  const prompt = [question, { ...good, train: true }, question];
  expect(read({ prompt, chosen: [good], rejected: [bad] })).toEqual({
    problem: expect.stringContaining('prompt.1: has weight 1 or train true') as string,
  });
});

test('so is a turn that both conversations share', () => {
  const shared = [question, { ...good, weight: 1 }, question];
  expect(read({ chosen: [...shared, good], rejected: [question, good, question, bad] })).toEqual({
    problem: expect.stringContaining('chosen.1: has weight 1 or train true') as string,
  });
});

test.each([
  ['a row of weight 0', { prompt: [question], chosen: [good], rejected: [bad], weight: 0 }, 'has weight 0'],
  [
    "Orca's pair, whose answers begin alike",
    { system: '', question: '2 + 2?', chosen: 'It is 4', rejected: 'It is 5' },
    'has question, a form that is not read: write the question as prompt',
  ],
  ["Alpaca's pair", { instruction: '2 + 2?', chosen: '4', rejected: '5' }, 'has instruction, a form that is not read'],
])('%s is refused', (_, row, problem) => {
  expect(read(row)).toEqual({ problem: expect.stringContaining(problem) as string });
});
