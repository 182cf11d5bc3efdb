// Reads parts of one file of the Hub by byte ranges: the header of a GGUF file is needed before gigabytes are downloaded. hub-blob.ts
// downloads whole files.
import pRetry from 'p-retry';
import type { GgufBytes } from './gguf/gguf-file.ts';
import { isBroken, type BlobRequest } from './hub-blob.ts';
import type { HubFile } from './hub-file.ts';

/** The size of one request: small enough to arrive over a slow connection before it counts as dead. */
const PIECE_BYTES = 2 ** 22;
const PIECE_MS = 60_000;
const RETRIES = 2;

export function hubBytes(name: string, { size }: HubFile, request: Omit<BlobRequest, 'onBytes'>): GgufBytes {
  const { signal } = request;
  return {
    name,
    size,
    async read(start, length) {
      const bytes = new Uint8Array(length);
      for (let done = 0; done < length; done += PIECE_BYTES) {
        const [first, count] = [start + done, Math.min(PIECE_BYTES, length - done)];
        const shouldRetry = ({ error }: { error: unknown }) => isBroken(error);
        const piece = await pRetry(() => readPiece(first, count, request), { retries: RETRIES, shouldRetry, signal });
        bytes.set(piece, done);
      }
      return bytes;
    },
    close: () => Promise.resolve(),
  };
}

async function readPiece(start: number, length: number, request: Omit<BlobRequest, 'onBytes'>): Promise<Uint8Array> {
  const response = await request.fetch(request.url, {
    headers: { ...request.headers, 'accept-encoding': 'identity', range: `bytes=${start}-${start + length - 1}` },
    signal: AbortSignal.any([request.signal, AbortSignal.timeout(PIECE_MS)]),
  });
  let at = response.status === 206 ? start : 0; // a server without support for ranges sends the whole file
  const piece = new Uint8Array(length);
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array;
    const part = bytes.subarray(Math.max(0, start - at), start + length - at);
    piece.set(part, Math.max(0, at - start));
    at += bytes.length;
    if (at >= start + length) return piece;
  }
  throw new Error(`${request.url} ended ${start + length - at} bytes early`);
}
