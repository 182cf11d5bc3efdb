// Receives bytes over unreliable connections: received bytes are in a `.part` file next to the target, and the next attempt, of this
// process or a later one, continues after them. Nothing stays of a file that does not fit on its disk. The caller checks the complete file by its checksum.
import { createWriteStream } from 'node:fs';
import { rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isRefusal, pauseBefore, reportReopened, TRANSFER_ATTEMPTS, type OnConnection } from './retry.ts';

/** A problem with local files, or with received data. */
export class ArtifactFilesError extends Error {
  override readonly name = 'ArtifactFilesError';
}

export interface Opened {
  readonly content: ReadableStream<Uint8Array>;
  /** False: the content starts from the beginning. */
  readonly isRest: boolean;
}

export type OnBytes = (doing: 'reading' | 'sending' | 'receiving', done: number, of: number) => void;

interface Lifetime {
  readonly onConnection?: OnConnection | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Throws if more than `sizeBytes` arrive: a file without an end would fill the disk. Calls `open` for the bytes after those that exist; does not call it if the file is complete. */
export async function receive(
  unfinished: string,
  sizeBytes: number,
  open: (here: number) => Promise<Opened>,
  onReceived: (bytes: number) => void,
  { onConnection = () => {}, signal }: Lifetime = {},
): Promise<void> {
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0)
    throw new ArtifactFilesError('The server does not say how many bytes the file has.');
  for (let failures = 0; ;) {
    const found = await sizeOf(unfinished);
    const here = found > sizeBytes ? 0 : found;
    if (here === sizeBytes && here > 0) return;
    await refuseFullDisk(unfinished, sizeBytes - here);
    let ofLine: unknown = null;
    let tooLong: ArtifactFilesError | null = null;
    try {
      const { content, isRest } = await open(here).catch((error: unknown) => {
        throw (ofLine = error);
      });
      if (failures > 0) await reportReopened(content, onConnection);
      let arrived = isRest ? here : 0;
      async function* counted(): AsyncGenerator<Uint8Array> {
        try {
          for await (const chunk of Readable.fromWeb(content) as AsyncIterable<Uint8Array>) {
            arrived += chunk.length;
            if (arrived > sizeBytes)
              throw (tooLong = new ArtifactFilesError(
                `The server sends more than the ${sizeBytes} bytes that it announced.`,
              ));
            onReceived(arrived);
            yield chunk;
          }
        } catch (error) {
          if (error !== tooLong) ofLine = error;
          throw error;
        }
      }
      return await pipeline(counted, createWriteStream(unfinished, { flags: isRest ? 'a' : 'w' }), { signal });
    } catch (error) {
      failures = (await sizeOf(unfinished)) > found ? 1 : failures + 1;
      signal?.throwIfAborted();
      // Who sends too much has not sent the file; and what does not fit must not go on filling the disk.
      if (error === tooLong || isFullDisk(error)) await rm(unfinished, { force: true });
      if (isFullDisk(error))
        throw new ArtifactFilesError(`${targetOf(unfinished)} cannot be written: its disk is full.`, { cause: error });
      if (ofLine === null || isRefusal(ofLine) || failures >= TRANSFER_ATTEMPTS) throw error;
      onConnection(ofLine);
      await pauseBefore(failures, ofLine, signal);
    }
  }
}

/** The file as its reader named it. */
const targetOf = (unfinished: string): string => unfinished.replace(/\.[\da-f]{12}\.part$/, '');

const isFullDisk = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes(String((error as NodeJS.ErrnoException | null)?.code));

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => null))?.size ?? 0;

/** Before the first byte: a file that does not fit must not fill the disk. Some systems do not say how large it is. */
async function refuseFullDisk(unfinished: string, bytes: number): Promise<void> {
  const disk = await statfs(dirname(unfinished)).catch(() => null);
  if (disk === null) return;
  const { blocks, bavail, bsize } = disk;
  if (blocks > 0 && bytes > bavail * bsize)
    throw new ArtifactFilesError(
      `${targetOf(unfinished)} needs ${bytes} bytes more, and its disk has ${bavail * bsize}. Free some space, or choose another place.`,
    );
}
