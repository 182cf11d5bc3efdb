// Reads bytes of an open file: exactly as many as requested, or an error.
import type { FileHandle } from 'node:fs/promises';
import type { AppError } from '#domain/errors';

const CHUNK_BYTES = 2 ** 28; // one read takes less than 2^31 bytes; smaller ones also keep a second shard's read going

/** Throws `refuse(reason)` if the file ends earlier. */
export const readBytes = (
  handle: FileHandle,
  start: number,
  length: number,
  refuse: (why: string) => AppError,
): Promise<Uint8Array<ArrayBuffer>> => readInto(new Uint8Array(length), handle, start, refuse);

/** Fills `bytes`. Throws `refuse(reason)` if the file ends earlier. */
export async function readInto<Bytes extends Uint8Array>(
  bytes: Bytes,
  handle: FileHandle,
  start: number,
  refuse: (why: string) => AppError,
): Promise<Bytes> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, done, Math.min(CHUNK_BYTES, bytes.length - done), start + done);
    if (bytesRead === 0) throw refuse(`it ended ${bytes.length - done} bytes early while it was read`);
    done += bytesRead;
  }
  return bytes;
}
