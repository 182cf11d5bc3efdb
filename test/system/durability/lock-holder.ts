// A process that takes and releases locks of data directories, as its standard input says: `lock DIRECTORY` or `release`, one
// a line. It answers each line with one: `locked`, `released`, or the error's message. Run by data-lock.test.ts.
import { createInterface } from 'node:readline';
import { lockDataDirectory, type DataLock } from '../../../src/server/data-lock.ts';

let lock: DataLock | null = null;

async function obey(line: string): Promise<string> {
  if (line === 'release') {
    await lock?.release();
    lock = null;
    return 'released';
  }
  lock = await lockDataDirectory(line.slice('lock '.length));
  return 'locked';
}

for await (const line of createInterface({ input: process.stdin }))
  console.log(await obey(line).catch((error: Error) => error.message));
