// Large files that can be made again, kept in one directory. A file appears complete or not at all, is found by its name, and is
// removed when it was not used for long or when other files need the space. The maker of a file decides its content.
// Processes need no lock: two that make the same file write separate copies, and the last rename wins; the copies are equal.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, statfs, utimes, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gigabytes } from '#base/gigabytes';
import { writeWholeFile } from '#base/whole-file';
import { AppError } from '#domain/errors';

export type Put = (bytes: Uint8Array, at: number) => Promise<void>;

export interface WeightFile {
  readonly path: string;
  readonly byteLength: number;
  readonly onBytes: (done: number, of: number) => void;
  readonly write: (put: Put) => Promise<void>;
}

const SUFFIX = '.weights';
const PARTIAL = '.partial';
const DAY_MS = 86_400_000;
const UNUSED_MS_MAX = 30 * DAY_MS;
/** The total size of files not used within the last hour; files in use are kept whatever their size. */
const KEPT_BYTES_MAX = 50e9;
const IN_USE_MS = 3_600_000;
/** A maker writes all the time: an incomplete file unchanged for this long has no maker any more. */
const ABANDONED_MS = 600_000;
const WRITE_BYTES = 2 ** 24;
/** Bytes between syncs, so that the disk is busy from the start and the last fsync has little to do. */
const SYNC_BYTES = 2 ** 26;

/** Afterwards the file exists and counts as just used. */
export async function ensureWeightFile(file: WeightFile): Promise<void> {
  const { path, byteLength } = file;
  const now = new Date();
  const found = await stat(path).catch(() => null);
  if (found?.size === byteLength) return void (await utimes(path, now, now).catch(() => {})); // owned by another user: still valid
  try {
    await mkdir(dirname(path), { recursive: true });
    await makeRoom(dirname(path), byteLength, now.getTime());
    await writeBeside(file);
  } catch (error) {
    throw diskFault(error, file) ?? error;
  }
}

async function writeBeside({ path, byteLength, onBytes, write }: WeightFile): Promise<void> {
  await writeWholeFile(path, `${path}.${randomUUID()}${PARTIAL}`, async (handle) => {
    await handle.truncate(byteLength);
    const { put, finish } = createWriter(handle, (done) => onBytes(done, byteLength));
    try {
      await write(put);
    } finally {
      await finish(); // before the file is closed
    }
  });
  onBytes(byteLength, byteLength);
}

/** Syncs during writing, one sync at a time, so that the disk and the maker work in parallel. `finish` waits for the last. */
function createWriter(handle: FileHandle, onDone: (done: number) => void): { put: Put; finish: () => Promise<void> } {
  let done = 0;
  let unsynced = 0;
  let syncing: Promise<void> = Promise.resolve();
  const put: Put = async (bytes, at) => {
    for (let written = 0; written < bytes.length;) {
      const length = Math.min(WRITE_BYTES, bytes.length - written);
      const { bytesWritten } = await handle.write(bytes, written, length, at + written);
      written += bytesWritten;
      unsynced += bytesWritten;
      if (unsynced >= SYNC_BYTES) {
        await syncing;
        syncing = handle.datasync();
        syncing.catch(() => {}); // thrown where it is awaited
        unsynced = 0;
      }
      onDone((done += bytesWritten));
    }
  };
  return { put, finish: () => syncing };
}

/** Removes what is old, then what was used least recently, until there is room; throws if that is not enough. */
async function makeRoom(directory: string, neededBytes: number, nowMs: number): Promise<void> {
  const files = (await listFiles(directory)).sort((a, b) => a.mtimeMs - b.mtimeMs);
  let idleBytes = 0;
  const idle = files.filter(({ path, mtimeMs }) => path.endsWith(SUFFIX) && nowMs - mtimeMs > IN_USE_MS);
  for (const { sizeBytes } of idle) idleBytes += sizeBytes;
  for (const { path, mtimeMs } of files) {
    if (path.endsWith(PARTIAL) && nowMs - mtimeMs > ABANDONED_MS) await remove(path);
  }
  for (const { path, mtimeMs, sizeBytes } of idle) {
    const tooOld = nowMs - mtimeMs > UNUSED_MS_MAX;
    if (!tooOld && idleBytes <= KEPT_BYTES_MAX && (await freeBytes(directory)) >= neededBytes) break;
    await remove(path);
    idleBytes -= sizeBytes;
  }
  const free = await freeBytes(directory);
  if (free < neededBytes) throw noRoom(directory, neededBytes, `which has ${gigabytes(free)} free`);
}

/** A file that cannot be removed, such as a mapped one on Windows, stays. */
const remove = (path: string): Promise<void> => rm(path, { force: true }).catch(() => {});

async function listFiles(directory: string) {
  const found = [];
  for (const name of await readdir(directory)) {
    if (!name.endsWith(SUFFIX) && !name.endsWith(PARTIAL)) continue;
    const path = join(directory, name);
    const info = await stat(path).catch(() => null); // another process has just removed it
    if (info) found.push({ path, mtimeMs: info.mtimeMs, sizeBytes: info.size });
  }
  return found;
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

function diskFault(error: unknown, { path, byteLength }: WeightFile): AppError | null {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const directory = dirname(path);
  if (code === 'ENOSPC' || code === 'EDQUOT') return noRoom(directory, byteLength, 'which is full', error);
  if (!['EROFS', 'EACCES', 'EPERM', 'ENOTDIR', 'EEXIST', 'EIO'].includes(code)) return null;
  return new AppError('engine_unavailable', `The weights cannot be stored in ${directory}: ${message}.`, {
    cause: error,
  });
}

const noRoom = (directory: string, neededBytes: number, room: string, cause?: unknown): AppError =>
  new AppError(
    'engine_unavailable',
    `The weights need ${gigabytes(neededBytes)} on the disk of ${directory}, ${room}. Free some space, or choose another data directory.`,
    { cause },
  );
