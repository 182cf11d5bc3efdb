// A process in which no file descriptor is left, while a job saves its state: what saves gets the error, and saves once there are some again.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const DESCRIPTORS = 200;
const at = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));

/** Of a process of its own: a full one would fail the tests beside this. */
const PROGRAM = `
import { closeSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileChunks } from ${at('../../base/file-chunks.ts')};
import { storageFault } from ${at('../../domain/storage-fault.ts')};
import { prepareFilesystemBlobs } from ${at('filesystem.ts')};
const [, , directory] = process.argv;
const blobs = await prepareFilesystemBlobs({ root: directory + '/blobs' });
const save = () => blobs.put('jobs/a/state', fileChunks(directory + '/state')).then(({ sizeBytes }) => sizeBytes, (error) => ({ code: error.code, fault: storageFault(error)?.code ?? null }));
await save();
const held = [];
try { for (;;) held.push(openSync('/dev/null')); } catch {}
const without = await save();
closeSync(held.pop()); // the place to write has a descriptor, the file to read has none
const withOne = await save();
for (let turn = 0; turn < 20; turn++) await setImmediate();
for (const each of held) closeSync(each);
process.stdout.write(JSON.stringify([without, withOne, await save()]));
`;

test('what saves gets the error and the process lives', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-descriptors-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'state'), 'x'.repeat(100_000));
  await writeFile(join(directory, 'save.mts'), PROGRAM);
  const run = `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`;
  const node = [process.execPath, '--import', 'tsx', '-C', 'source', join(directory, 'save.mts'), directory];
  const { stdout } = await promisify(execFile)('sh', ['-c', run, ...node]);
  const refused = { code: 'EMFILE', fault: 'storage_unavailable' };
  expect(JSON.parse(stdout)).toEqual([refused, refused, 100_000]);
});
