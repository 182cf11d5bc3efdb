import { expect, test } from 'vitest';
import { readEvaluationLine } from '#rows/evaluation';
import type { RequestedEvaluation } from '#domain/evaluation';
import { aCaller } from '../../../test/support/a-caller.ts';
import type { OpenArtifact } from '../artifacts/artifact-content.ts';
import { createAcceptEvaluation } from './accept-evaluation.ts';

const NAME = { entity: 'team', project: 'p', name: 'prompts', version: null };
const limits = { promptsMax: 1_000, samplesMax: 4, tokensMax: 1e6, promptBytesMax: 8_000_000 };

function accept(lines: readonly (string | Buffer)[]) {
  const opened = {
    artifact: { ...NAME, version: 0, files: [{ path: 'prompts.jsonl' }] },
    open: async () => ({
      content: (async function* () {
        for (const each of lines) yield Buffer.concat([Buffer.from(each), Buffer.from('\n')]);
      })(),
    }),
  } as unknown as OpenArtifact;
  const requested = { settings: { samples: 1, maxTokens: 1 }, tools: null, prompts: { artifact: NAME, path: null } };
  return createAcceptEvaluation({ artifacts: { get: async () => opened }, limits })(
    aCaller(),
    requested as unknown as RequestedEvaluation,
  );
}

const line = (metadata: string) => `{"messages":[{"role":"user","content":"Hi"}],"metadata":${metadata}}`;
const zeros = (count: number) => `{"x":[${'0,'.repeat(count)}0]}`;
const keys = (from: number, count: number) =>
  `{${Array.from({ length: count }, (_, i) => `"k${from + i}":0`).join(',')}}`;

test('the prompts of a file have as many values and keys together as those in a body', async () => {
  expect((await accept([line(zeros(100_000)), line(zeros(100_000))])).body.prompts).toHaveLength(2);
  await expect(accept([1, 2, 3].map(() => line(zeros(100_000))))).rejects.toThrow(
    'prompts.jsonl line 3 of prompts:v0 are too many at once: More than 250000 values',
  );
  await expect(accept([line(keys(0, 30_000)), line(keys(30_000, 30_000))])).rejects.toThrow(
    'More than 50000 different keys',
  );
  await expect(accept([line('['.repeat(200))])).rejects.toThrow('line 1 of prompts:v0: ');
});

test('a line alone has no more', () => {
  expect(readEvaluationLine(line(zeros(300_000)))).toMatchObject({
    problem: expect.stringContaining('More than 250000 values') as string,
  });
});

test('a file is read as training data is: from behind a byte order mark, and only as UTF-8', async () => {
  const marked = await accept([`\ufeff${line('null')}`, '\r']);
  expect(marked).toMatchObject({ body: { prompts: [{ metadata: {} }] }, warnings: [] });
  const latin = Buffer.from(line('{"city":"Åre"}'), 'latin1');
  await expect(accept([line('{}'), latin])).rejects.toThrow('line 2 of prompts:v0: is not UTF-8');
});

test('fields that no evaluation uses are named, and metadata that would be lost is refused', async () => {
  const row = { ...(JSON.parse(line('{"id":1}')) as object), reference_answer: 4, source: null };
  const { body, warnings } = await accept([JSON.stringify(row), JSON.stringify({ ...row, functions: [] })]);
  expect(body.prompts).toMatchObject([{ metadata: { id: 1 } }, { metadata: { id: 1 } }]);
  expect(warnings).toEqual([
    "Fields of the evaluation's prompts that are not used: reference_answer (2 prompts), functions (1 prompt). What is to come back with the answers belongs into metadata.",
  ]);
  await expect(accept([line('"task 7"')])).rejects.toThrow('metadata: must be an object');
});
