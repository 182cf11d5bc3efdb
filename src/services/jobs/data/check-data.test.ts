// What `whetstone data check` finds in a file, and that a job's first event names the same, with the starter's template and tokenizer.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readTextModel } from '#text/text-model';
import { encoderOf, examples } from '../../../../test/support/golden/examples.ts';
import { checkData, isTrainable } from './check-data.ts';
import { createConversationEncoder } from './conversation-encoder.ts';
import { readJobData } from './read-job-data.ts';

const text = await readTextModel(fileURLToPath(new URL('../../../../models/starter', import.meta.url)));
const said = (role: string, content: string, more = {}) => ({ role, content, ...more });
const messages = [
  said('user', 'Hi'),
  said('assistant', 'Hello', { weight: 0 }),
  said('user', 'Bye'),
  said('assistant', 'Bye'),
];
const image = [said('user', 'x'), { role: 'assistant', content: [{ type: 'image_url', image_url: {} }] }];

async function* file(...lines: (object | string)[]) {
  yield Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
}
const check = (...lines: (object | string)[]) =>
  checkData(file(...lines), { id: 'starter', text }, { assistantTurns: 'all', shownRows: 1 });

test('rows are counted, and the first are shown with their trained tokens', async () => {
  const report = await check({ messages, id: 1 }, { text: 'Once' }, { chosen: 'a b', rejected: 'a c' });
  expect(report.rows).toEqual({ conversation: 1, text: 1, pair: 1 });
  expect(report.shown.map(({ line, kind }) => [line, kind])).toEqual([[1, 'conversation']]);
  const { runs, trainedTokens, tokens } = report.shown[0]!.sequences[0]!;
  expect(runs.filter(({ trained }) => trained).map((run) => run.text)).toEqual(['Bye<|im_end|>']);
  expect(runs.map((run) => run.text).join('')).toContain('Hello<|im_end|>');
  expect(tokens).toBeGreaterThan(trainedTokens);
  expect(report.warnings).toEqual([
    'Fields of the training data that are not used: id (1 row).',
    expect.stringContaining('both preference pairs and other rows'),
  ]);
  expect(isTrainable(report)).toBe(false); // each job refuses the rows of the other
});

test('a row with a conversation and a pair is read as the job reads it', async () => {
  const turns = messages.slice(2);
  const row = { prompt: 'Bye', messages: turns, chosen: turns, rejected: [turns[0], said('assistant', 'Hm')] };
  expect((await check(row)).rows).toEqual({ conversation: 1, text: 0, pair: 0 });
  const request = { assistantTurns: 'all', shownRows: 0, job: 'dpo' } as const;
  const read = await checkData(file(row), { id: 'starter', text }, request);
  expect(read.rows).toEqual({ conversation: 0, text: 0, pair: 1 });
});

test('a file is trainable if a job takes all of it and learns something', async () => {
  expect(isTrainable(await check({ messages }, { text: 'Once' }))).toBe(true);
  expect(isTrainable(await check({ messages: messages.slice(0, 2) }))).toBe(false);
});

test('lines that a job refuses and rows that it skips have their places', async () => {
  const report = await check({ messages }, '{"messages"', '', { messages: image }, { messages: messages.slice(0, 2) });
  expect(report.invalid).toEqual({
    count: 1,
    first: [{ line: 2, problem: expect.stringContaining('is not JSON') as string }],
  });
  expect(report.skipped).toMatchObject({
    refused_by_template: { rows: 1, firstLine: 4, problem: expect.stringContaining('image_url') as string },
    no_trainable_tokens: { rows: 1, firstLine: 5 },
  });
  expect(isTrainable(report)).toBe(false);
});

const dataset = { entity: 'e', project: 'p', name: 'n', version: 0, path: 'train.jsonl' };
const encoder = createConversationEncoder('starter', text, text.tokenizer.vocabSize);
const readSft = (encoding: typeof encoder, ...lines: object[]) =>
  readJobData.sft(
    { dataset, limits: { trainedTurns: 'all', lengthMax: 500 } },
    file(...lines),
    encoding,
    async () => {},
  );

test('a job names what it does not use and what the template refuses, and trains the rest', async () => {
  const data = await readSft(encoder, { messages, id: 1 }, { messages: image, id: 2 });
  expect(data.skipped).toEqual({ refused_by_template: 1 });
  expect(data.warnings).toEqual([
    'Fields of the training data that are not used: id (2 rows).',
    expect.stringMatching(
      /^1 row was not trained, because the chat template refuses it; the first is row 2: .*image_url/,
    ),
  ]);
});

test('a job whose every row the template refuses fails with the reason', async () => {
  await expect(readSft(encoder, { messages: image })).rejects.toThrow('image_url');
});

test('a job says that no end of turn is known', async () => {
  const endless = createConversationEncoder('starter', { ...text, eosTokenIds: [] }, text.tokenizer.vocabSize);
  expect((await readSft(endless, { messages })).warnings).toEqual([expect.stringMatching(/^No end of turn is known/)]);
});

const call = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } };
const tool = { type: 'function', function: { name: 'add', parameters: { type: 'object', properties: {} } } };
const useOfTools = {
  messages: [
    said('user', 'Add.'),
    { role: 'assistant', content: null, tool_calls: [call] },
    said('tool', '3', { tool_call_id: 'c1' }),
    said('assistant', '3'),
  ],
  tools: [tool],
};

test('what the chat template leaves out of rows is named: tools, calls, and messages of roles', async () => {
  const model = (name: string) => {
    const { encoder } = encoderOf(examples.cases.find(({ template }) => template === name)!);
    return readSft(encoder, useOfTools, { messages: [said('critic', 'No.'), ...messages] });
  };
  const leftOut = (what: string) => [`The chat template leaves out parts of the training data: ${what}.`];
  expect((await model('chatml')).warnings).toEqual(leftOut('tools (1 row), tool_calls (1 row)'));
  expect((await model('qwen3')).warnings).toEqual(leftOut('messages of the role critic (1 row)'));
  expect((await model('phi3')).warnings).toEqual(
    leftOut(
      'tools (1 row), tool_calls (1 row), messages of the role tool (1 row), messages of the role critic (1 row)',
    ),
  );
  expect((await model('llama3_1')).warnings).toEqual([]);
});
