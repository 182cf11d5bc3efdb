// A preview of a file shows each line as `whetstone data check` and a job read it.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readTextModel } from '#text/text-model';
import { checkData } from '../data/check-data.ts';
import { createConversationEncoder } from '../data/conversation-encoder.ts';
import { readJobData } from '../data/read-job-data.ts';
import { createDatasetRows, type DatasetRowsDeps } from './dataset-rows.ts';

const text = await readTextModel(fileURLToPath(new URL('../../../../models/starter', import.meta.url)));
const encoder = createConversationEncoder('starter', text, text.tokenizer.vocabSize);
const model = { id: 'starter', text, inference: { vocabSize: text.tokenizer.vocabSize } };
const dataset = { entity: 'e', project: 'p', name: 'n', version: 0, path: 'train.jsonl' };

const said = (role: string, content: unknown, more = {}) => ({ role, content, ...more });
const turns = [said('user', 'Hi'), said('assistant', 'Hello')];
const json = JSON.stringify;

async function* fileOf(content: string) {
  yield Buffer.from(content);
}

function pageOf(content: string) {
  const baseModels = { default: model, get: () => model } as unknown as DatasetRowsDeps['baseModels'];
  const opened = { artifact: { files: [{ path: dataset.path }] }, open: () => ({ content: fileOf(content) }) };
  const artifacts = { get: () => Promise.resolve(opened) } as unknown as DatasetRowsDeps['artifacts'];
  const caller = {} as Parameters<ReturnType<typeof createDatasetRows>['list']>[0];
  return createDatasetRows({ artifacts, baseModels }).list(
    caller,
    { ...dataset, version: '0' },
    { path: null, baseModel: null, assistantTurns: 'all' },
    { after: null, limit: 100 },
  );
}

/** Which lines would be trained, from each. */
async function trainedLines(content: string) {
  const file = () => fileOf(content);
  const shown = { assistantTurns: 'all', shownRows: Infinity } as const;
  const checked = await checkData(file(), model, shown);
  const page = await pageOf(content);
  const limits = { trainedTurns: 'all', lengthMax: text.contextLength } as const;
  const job = await readJobData
    .sft({ dataset, limits }, file(), encoder, async () => {})
    .catch((error: Error) => [...error.message.matchAll(/line (\d+):/g)].map(([, line]) => Number(line)));
  return {
    check: { trained: checked.shown.map(({ line }) => line), invalid: checked.invalid.first.map(({ line }) => line) },
    page: {
      trained: page.rows.filter(({ sequences }) => sequences && sequences.length > 0).map(({ line }) => line),
      invalid: page.rows.filter(({ row }) => row === null).map(({ line }) => line),
    },
    job: Array.isArray(job) ? job : Object.values(job.skipped).reduce((sum, rows) => sum + rows, 0),
  };
}

const ODD = [
  json({ messages: turns }),
  '',
  json({ messages: [...turns, said('user', 'Bye')] }),
  json({ messages: [said('user', 'x'), said('assistant', 'word '.repeat(text.contextLength))] }),
  json({ messages: [turns[0], { ...turns[1], weight: 0 }] }),
  json({ messages: [said('user', [{ type: 'image_url' }]), turns[1]] }),
  json({ messages: null, text: 'Once upon a time' }),
  '{"text": "half \\ud83d"}',
  '{"text": "a",}',
];

test('a file with a byte order mark, CRLF and lines of all kinds', async () => {
  const file = `\uFEFF${ODD.join('\r\n')}`;
  expect(await trainedLines(file)).toEqual({
    check: { trained: [1, 7], invalid: [3, 8, 9] },
    page: { trained: [1, 7], invalid: [3, 8, 9] },
    job: [3, 8, 9],
  });
});

test('a job skips the lines that neither shows as trained', async () => {
  const file = ODD.filter((_, at) => ![2, 7, 8].includes(at)).join('\n');
  expect(await trainedLines(file)).toEqual({
    check: { trained: [1, 6], invalid: [] },
    page: { trained: [1, 6], invalid: [] },
    job: 3,
  });
});

test('a conversation of very many turns is shown without its tokens, which would take a minute', async () => {
  const of = (pairs: number) => json({ messages: Array.from({ length: pairs }, () => turns).flat() });
  const { rows, hasMore } = await pageOf([of(1_000), of(20), of(60), of(60), of(1)].join('\n'));
  expect(rows.map(({ row, problem, sequences }) => [row !== null, problem, sequences?.length])).toEqual([
    [true, null, undefined],
    [true, null, 1],
    [true, null, 1],
    [true, null, 1],
  ]);
  expect(hasMore).toBe(true);
});
