// A database and a blob store with injected faults: below the queries, at single statements, and below the services, in the
// middle of writes. A killed process does nothing more: each later operation fails.
import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CompiledQuery, type DatabaseConnection, type Dialect, type Driver } from 'kysely';
import type { BlobStore } from '#storage/blobs';
import { prepareFilesystemBlobs } from '#storage/blobs/filesystem';
import type { StorageDialect } from '#storage/sql/dialect';
import { failure, Killed, type Fault, type Faults } from './faults.ts';

export interface Process {
  readonly killed: () => boolean;
  readonly kill: () => void;
}

export function createProcess(onDeath: () => void): Process {
  let killed = false;
  return {
    killed: () => killed,
    kill() {
      if (killed) return;
      killed = true;
      onDeath();
    },
  };
}

export function faultyDialect(
  dialect: StorageDialect,
  process: Process,
  faults: Faults,
  kinds: readonly Fault[],
): StorageDialect {
  const { kysely } = dialect;
  const wrapped: Dialect = {
    createAdapter: () => kysely.createAdapter(),
    createIntrospector: (db) => kysely.createIntrospector(db),
    createQueryCompiler: () => kysely.createQueryCompiler(),
    createDriver: () => faultyDriver(kysely.createDriver(), process, faults, kinds),
  };
  return { ...dialect, kysely: wrapped };
}

function faultyDriver(driver: Driver, process: Process, faults: Faults, kinds: readonly Fault[]): Driver {
  const bare = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const used = new Set<DatabaseConnection>();
  return {
    init: () => driver.init(),
    async acquireConnection() {
      const connection = await driver.acquireConnection();
      const faulty = faultyConnection(connection, process, faults, kinds);
      bare.set(faulty, connection);
      used.add(connection);
      return faulty;
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    async rollbackTransaction(connection) {
      await driver.rollbackTransaction(bare.get(connection)!).catch((error: unknown) => {
        if (!process.killed()) throw error; // it died after the commit
      });
    },
    releaseConnection: (connection) => driver.releaseConnection(bare.get(connection)!),
    async destroy() {
      // As the end of the process does. libsql keeps a closed connection, and its locks, until its statements are
      // garbage-collected.
      for (const connection of used) await driver.rollbackTransaction(connection).catch(() => undefined);
      await driver.destroy();
    },
  };
}

function faultyConnection(
  connection: DatabaseConnection,
  process: Process,
  faults: Faults,
  kinds: readonly Fault[],
): DatabaseConnection {
  /** What the database does when a connection is lost. */
  const hangUp = () => connection.executeQuery(CompiledQuery.raw('rollback'));
  return {
    async executeQuery(query) {
      if (process.killed()) throw new Killed();
      const fault = faults.next(query.sql.slice(0, 60), kinds);
      if (fault === 'kill before') process.kill();
      if (process.killed()) throw new Killed();
      if (fault === 'database away') await hangUp();
      if (fault !== null && fault !== 'kill after' && fault !== 'answer lost') throw failure(fault);
      const result = await connection.executeQuery(query);
      if (fault === 'kill after') process.kill();
      if (process.killed()) throw new Killed();
      if (fault === 'answer lost') {
        await hangUp();
        throw failure(fault);
      }
      return result as never;
    },
    streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
  };
}

const WRITE_FAULTS: readonly Fault[] = [
  'kill before',
  'kill after',
  'kill halfway',
  'disk full',
  'read-only disk',
  'disk fault',
];
const SAVE_FAULTS: readonly Fault[] = [
  'corrupt blob',
  'truncated blob',
  'corrupt blob',
  'truncated blob',
  'disk full',
  'kill halfway',
];
const DELETE_FAULTS: readonly Fault[] = ['kill before', 'kill after', 'read-only disk', 'disk fault'];
const READ_FAULTS: readonly Fault[] = ['kill before', 'disk fault'];

/** There are many statements to each blob. */
const BLOB_FREQUENCY = 3;
const SAVE_FREQUENCY = 4;

/** Blobs that a job can make again; everything else has been acknowledged to a client. */
const REPEATABLE = /^jobs\/[^/]+\/(?:resume\/|prepared)/;

/** Files below `root`. */
export async function openFaultyFiles(root: string, process: Process, faults: Faults): Promise<BlobStore> {
  await mkdir(root, { recursive: true });
  const blobs = await prepareFilesystemBlobs({ root });

  async function run<T>(point: string, kinds: readonly Fault[], work: (fault: Fault | null) => Promise<T>): Promise<T> {
    if (process.killed()) throw new Killed();
    const fault = faults.next(point, kinds, kinds === SAVE_FAULTS ? SAVE_FREQUENCY : BLOB_FREQUENCY);
    if (fault === 'kill before') process.kill();
    if (process.killed()) throw new Killed();
    if (fault === 'read-only disk' || fault === 'disk fault') throw failure(fault);
    const result = await work(fault);
    if (fault === 'kill after') process.kill();
    if (process.killed()) throw new Killed();
    return result;
  }

  const pointOf = (verb: string, name: string) => `${verb} ${name.replace(/[0-9a-f-]{36}/g, '…')}`;
  const isRepeatable = (name: string) => REPEATABLE.test(`${name}/`);

  let damages = 0;
  /** A job's progress: the pointer to a state, or the state that it points to. */
  async function damage(fault: Fault | null, name: string): Promise<void> {
    if (fault !== 'corrupt blob' && fault !== 'truncated blob') return;
    const path = join(root, name);
    const isPointer = name.endsWith('current.json') && damages++ % 2 === 0;
    await damageFile(isPointer ? await someFile(join(path, '..')) : await someFile(path), fault);
    process.kill();
  }

  return {
    put: (name, content) =>
      run(pointOf('put', name), isRepeatable(name) ? SAVE_FAULTS : WRITE_FAULTS, async (fault) => {
        const result = await blobs.put(name, interrupted(content, fault, process));
        await damage(fault, name);
        return result;
      }),
    putDirectory: (prefix, directory) =>
      run(pointOf('putDirectory', prefix), isRepeatable(prefix) ? SAVE_FAULTS : WRITE_FAULTS, async (fault) => {
        if (fault === 'disk full') throw failure(fault);
        const result = await blobs.putDirectory(prefix, directory);
        await damage(fault, prefix);
        if (fault === 'kill halfway') process.kill();
        return result;
      }),
    delete: (name) => run(pointOf('delete', name), DELETE_FAULTS, () => blobs.delete(name)),
    find: (name) => run(pointOf('find', name), READ_FAULTS, () => blobs.find(name)),
    stream: (name) => run(pointOf('stream', name), READ_FAULTS, () => blobs.stream(name)),
    list: (prefix) => run(pointOf('list', prefix), READ_FAULTS, () => blobs.list(prefix)),
    findDirectory: (prefix, insteadOf) =>
      run(pointOf('findDirectory', prefix), READ_FAULTS, () => blobs.findDirectory(prefix, insteadOf)),
  };
}

/** Breaks off after half of the first part. */
function interrupted(content: Uint8Array | AsyncIterable<Uint8Array>, fault: Fault | null, process: Process) {
  if (fault !== 'disk full' && fault !== 'kill halfway') return content;
  return (async function* () {
    for await (const part of content instanceof Uint8Array ? [content] : content) {
      yield part.subarray(0, Math.floor(part.length / 2));
      if (fault === 'disk full') throw failure(fault);
      process.kill();
      throw new Killed();
    }
  })();
}

async function someFile(path: string): Promise<string> {
  const names = (await readdir(path).catch(() => null))?.filter((name) => name !== 'current.json').sort();
  return names ? someFile(join(path, names.at(-1)!)) : path;
}

async function damageFile(path: string, fault: Fault): Promise<void> {
  const bytes = await readFile(path);
  if (fault === 'truncated blob') return truncate(path, Math.floor(bytes.length / 2));
  const at = Math.floor(bytes.length / 2);
  bytes[at] = bytes[at]! ^ 1;
  await writeFile(path, bytes);
}
