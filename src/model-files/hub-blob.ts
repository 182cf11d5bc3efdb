// Downloads one file of the Hub into its blob in the cache. An interrupted download resumes where it stopped, in this process or after
// a restart: received bytes are next to the blob in a partial file, and the hash is checked at the end. An incomplete download never
// has the blob's name.
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '#base/is-running';
import { limitSilence } from '#base/silence-limit';
import { createContentHash, type HubFile } from './hub-file.ts';
import { HubRefusal } from './hub-refusal.ts';

export interface BlobRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  /** Called with the number of bytes received so far. */
  readonly onBytes: (done: number) => void;
  readonly signal: AbortSignal;
}

/** A connection that delivers no byte for this long counts as dead. */
const SILENCE_MS = 60_000;
/** Consecutive attempts without a new byte; as long as bytes arrive, a broken connection is retried without limit. */
const TRIES_MAX = 3;
const WAIT_MS = 500;

/** Downloads into `blob`, whose directory must exist. */
export async function fetchBlob(file: HubFile, blob: string, request: BlobRequest): Promise<void> {
  const path = await claimPartial(blob);
  try {
    const wasThere = await sizeOf(path);
    try {
      await receiveWhole(file, path, request);
    } catch (error) {
      if (!(error instanceof DamagedFile) || wasThere === 0) throw error;
      await receiveWhole(file, path, request); // existing bytes may have been damaged, for example by a power failure
    }
    await rename(path, blob);
  } catch (error) {
    await rename(path, freePartial(blob)).catch(() => undefined);
    throw error;
  } finally {
    CLAIMED.delete(path);
  }
}

class DamagedFile extends Error {}

/** Throws `DamagedFile` after deleting the partial file. */
async function receiveWhole(file: HubFile, path: string, request: BlobRequest): Promise<void> {
  const partial = await openPartial(file, path);
  try {
    let fruitless = 0;
    while (partial.size < file.size) {
      const before = partial.size;
      try {
        await receive(file, partial, request);
      } catch (fault) {
        if (request.signal.aborted || !isBroken(fault)) throw fault;
        fruitless = partial.size > before ? 0 : fruitless + 1;
        if (fruitless >= TRIES_MAX) throw fault;
        if (fruitless > 0) await sleep(WAIT_MS * 2 ** fruitless, undefined, { signal: request.signal });
      }
    }
    if (partial.size === file.size && partial.hash.digest('hex') === file.hash) return await partial.handle.sync();
  } finally {
    await partial.handle.close();
  }
  await rm(path, { force: true });
  throw new DamagedFile(`${file.path} arrived damaged: its hash is not ${file.hash}`);
}

/** Whether the network or the server failed, so that a retry may succeed; a full disk is different. */
export const isBroken = (fault: unknown): boolean =>
  fault instanceof HubRefusal
    ? fault.status >= 500 || fault.status === 429
    : !(fault instanceof Error && 'syscall' in fault);

interface Partial {
  readonly handle: FileHandle;
  size: number;
  /** The hash of the bytes so far. */
  hash: ReturnType<typeof createContentHash>;
}

async function openPartial(file: HubFile, path: string): Promise<Partial> {
  const partial = { handle: await open(path, 'a+'), size: 0, hash: createContentHash(file) };
  try {
    const { size } = await partial.handle.stat();
    if (size > file.size) await partial.handle.truncate(0);
    else
      for await (const chunk of partial.handle.createReadStream({ start: 0, autoClose: false })) {
        partial.hash.update(chunk as Uint8Array);
        partial.size += (chunk as Uint8Array).byteLength;
      }
    return partial;
  } catch (error) {
    await partial.handle.close();
    throw error;
  }
}

/** Receives one response of the Hub. Returns if it was complete. */
async function receive(file: HubFile, partial: Partial, request: BlobRequest): Promise<void> {
  const silence = limitSilence(SILENCE_MS, new Error(`no byte for ${SILENCE_MS / 1000} s`));
  try {
    const response = await request.fetch(request.url, {
      // Without compression: hashes and ranges refer to the original bytes.
      headers: { ...request.headers, 'accept-encoding': 'identity', ...rangeFrom(partial.size) },
      signal: AbortSignal.any([request.signal, silence.signal]),
    });
    if (partial.size > 0 && !continues(response, partial.size)) await startOver(file, partial);
    for await (const chunk of silence.hear((response.body ?? []) as AsyncIterable<Uint8Array>)) {
      await partial.handle.appendFile(chunk);
      partial.hash.update(chunk);
      partial.size += chunk.byteLength;
      request.onBytes(partial.size);
      if (partial.size > file.size) return;
    }
    if (partial.size < file.size) throw new Error(`${file.path} ended after ${partial.size} of ${file.size} bytes`);
  } finally {
    silence.end();
  }
}

const rangeFrom = (size: number): Record<string, string> => (size === 0 ? {} : { range: `bytes=${size}-` });

/** False if the server ignored the range and sends the whole file. */
const continues = (response: Response, size: number): boolean =>
  response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${size}-`) === true;

async function startOver(file: HubFile, partial: Partial): Promise<void> {
  await partial.handle.truncate(0);
  partial.size = 0;
  partial.hash = createContentHash(file);
}

// Several servers, or several models of one server, may download the same file. Every writer gives its partial file a unique name and
// takes over an abandoned one by renaming it, which only one of them can do.
const CLAIMED = new Set<string>();
let claims = 0;

const freePartial = (blob: string): string => `${blob}.whetstone.incomplete`;

async function claimPartial(blob: string): Promise<string> {
  const mine = `${blob}.${hostname()}.${process.pid}.${++claims}.incomplete`;
  CLAIMED.add(mine);
  for (const left of [freePartial(blob), ...(await abandoned(blob))]) {
    const taken = await rename(left, mine).then(
      () => true,
      () => false,
    );
    if (taken) break;
  }
  return mine;
}

/** Partial files of processes on this machine that were killed. */
async function abandoned(blob: string): Promise<string[]> {
  const directory = dirname(blob);
  const mark = `${basename(blob)}.${hostname()}.`;
  const names = (await readdir(directory)).filter((name) => name.startsWith(mark) && name.endsWith('.incomplete'));
  return names
    .filter((name) => {
      const pid = Number(name.slice(mark.length).split('.')[0]);
      return pid === process.pid ? !CLAIMED.has(join(directory, name)) : !isRunning(pid);
    })
    .map((name) => join(directory, name));
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** How many bytes an earlier attempt has left; 0: none. */
export async function partialSize(blob: string): Promise<number> {
  const sizes = await Promise.all([freePartial(blob), ...(await abandoned(blob).catch(() => []))].map(sizeOf));
  return sizes.find((size) => size > 0) ?? 0;
}
