// A process in which no file descriptor is left, while a job saves its state: what saves gets the error, and saves once there are some again.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { BUCKET, CREDENTIALS, openObjectStore } from '../../../test/support/object-store.ts';

const DESCRIPTORS = 200;
const at = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));

/** Of a process of its own: a full one would fail the tests beside this. */
const PROGRAM = `
import { closeSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileChunks } from ${at('../../base/file-chunks.ts')};
import { storageFault } from ${at('../../domain/storage-fault.ts')};
import { prepareFilesystemBlobs } from ${at('filesystem.ts')};
import { openS3Blobs } from ${at('s3.ts')};
const [, , directory, endpoint] = process.argv;
const blobs = endpoint
  ? await openS3Blobs({ bucket: ${JSON.stringify(BUCKET)}, prefix: '', endpoint, region: 'us-east-1', cacheDirectory: directory + '/cache' })
  : await prepareFilesystemBlobs({ root: directory + '/blobs' });
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
blobs.close?.();
`;

const REFUSED = { code: 'EMFILE', fault: 'storage_unavailable' };

test.each([
  ['files', [REFUSED, REFUSED, 100_000]],
  ['S3', [REFUSED, 100_000, 100_000]], // its connections stay open
])('what saves to %s gets the error and the process lives', async (kind, saves) => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-descriptors-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const store = kind === 'S3' ? await openObjectStore(join(directory, 'objects')) : null;
  onTestFinished(() => store?.close());
  await writeFile(join(directory, 'state'), 'x'.repeat(100_000));
  await writeFile(join(directory, 'save.mts'), PROGRAM);
  const run = `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`;
  const node = [process.execPath, '--import', 'tsx', '-C', 'source', join(directory, 'save.mts'), directory];
  if (store) node.push(store.endpoint);
  const { stdout } = await promisify(execFile)('sh', ['-c', run, ...node], { env: { ...process.env, ...CREDENTIALS } });
  expect(JSON.parse(stdout)).toEqual(saves);
});
