// Reads a small file as text, and refuses one that is longer than such a file can be: its size is not ours to choose, and what is read is
// held in memory and parsed at once.
import { open } from 'node:fs/promises';

/** Settings of a model or adapter: the longest are a few hundred kilobytes. */
const SETTINGS_BYTES_MAX = 16 * 2 ** 20;

export class FileTooLongError extends Error {
  override readonly name = 'FileTooLongError';
}

/** Throws FileTooLongError, also for what is no file and may have no end, and what opening throws. */
export async function readBoundedText(path: string, bytesMax = SETTINGS_BYTES_MAX): Promise<string> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.min((await file.stat()).size, bytesMax) + 1);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
      if (bytesRead === 0) return bytes.toString('utf8', 0, length);
      length += bytesRead;
    }
    const { size } = await file.stat();
    throw new FileTooLongError(`it has ${size} bytes, and at most ${Math.min(bytesMax, length - 1)} were expected`);
  } finally {
    await file.close();
  }
}
