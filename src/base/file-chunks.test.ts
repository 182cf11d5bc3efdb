import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { fileChunks } from './file-chunks.ts';

const root = await mkdtemp(join(tmpdir(), 'whetstone-chunks-'));
afterAll(() => rm(root, { recursive: true, force: true }));

test('a file is read from any byte, in chunks of the given size', async () => {
  await writeFile(join(root, 'file'), 'abcdefgh');
  const chunks: string[] = [];
  for await (const chunk of fileChunks(join(root, 'file'), { from: 3, chunkBytes: 2 })) chunks.push(chunk.toString());
  expect(chunks).toEqual(['de', 'fg', 'h']);
});

test('whoever reads the bytes late gets the error, and nobody else does', async () => {
  const chunks = fileChunks(join(root, 'none'));
  for (let turn = 0; turn < 10; turn++) await setImmediate(); // a bare stream has failed by now, unheard
  await expect(chunks.next()).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a pipe is read too, as `data check /dev/stdin` reads one', async () => {
  const path = join(root, 'pipe');
  execFileSync('mkfifo', [path]);
  const chunks = fileChunks(path);
  const [read] = await Promise.all([chunks.next(), writeFile(path, 'row')]);
  expect(String(read.value)).toBe('row');
});
