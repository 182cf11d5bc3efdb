// The progress of `whetstone data check`; what it reports is services/jobs/data/check-data.ts.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readServerConfig } from '#config/server-config';
import { checkDataFile } from './check-data-file.ts';

test('a check counts the bytes of its file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-checked-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'rows.jsonl');
  const text = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n'.repeat(2_000);
  await writeFile(file, text);
  const seen: (readonly number[])[] = [];
  const request = {
    file,
    assistantTurns: 'all',
    shownRows: 0,
    onBytes: (...bytes: readonly number[]) => seen.push(bytes),
  } as const;
  expect((await checkDataFile(request, readServerConfig({}, {}))).report.rows.conversation).toBe(2_000);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.at(-1)).toEqual([text.length, text.length]);
});
