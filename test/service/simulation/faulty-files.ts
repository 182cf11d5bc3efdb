// A file system in memory that forgets on a power loss what was not fsynced: bytes of files, and entries of directories. It takes the place
// of node:fs in a simulation, so that the real blob store runs over it. Operations that change or read content are waits of the scheduler, at
// which a process may die; looking something up takes no time. Knows nothing of blobs.
import { Readable } from 'node:stream';
import type { Random } from '#base/random';
import { theScheduler } from './fake-time.ts';

interface File {
  readonly kind: 'file';
  content: Buffer;
  durable: Buffer;
  changes: number;
}

interface Folder {
  readonly kind: 'folder';
  entries: Map<string, Node>;
  durable: Map<string, Node>;
}

type Node = File | Folder;

const folder = (): Folder => ({ kind: 'folder', entries: new Map(), durable: new Map() });
let root = folder();
let made = 0;

/** An empty disk with the folder of a server's data, as an operator has made it. */
export function resetFiles(): void {
  root = folder();
  made = 0;
  makeFolders('/data');
  root.durable = new Map(root.entries);
}

/** Each change that was not fsynced has reached the disk or not, as the seed decides; bytes may have reached it in part. */
export function losePower(random: Random): void {
  const seen = new Set<Node>();
  function forget(node: Node): void {
    if (seen.has(node)) return;
    seen.add(node);
    if (node.kind === 'file') {
      if (!node.content.equals(node.durable)) {
        const kept = random.integer(3);
        if (kept === 0) node.content = node.durable;
        if (kept === 1) node.content = node.content.subarray(0, Math.floor(node.content.length * random.next()));
      }
      node.durable = node.content;
      return;
    }
    for (const name of new Set([...node.entries.keys(), ...node.durable.keys()])) {
      const [now, before] = [node.entries.get(name), node.durable.get(name)];
      if (now === before || random.integer(2) === 0) continue;
      if (before) node.entries.set(name, before);
      else node.entries.delete(name);
    }
    node.durable = new Map(node.entries);
    for (const each of node.entries.values()) forget(each);
  }
  forget(root);
}

/** What a file would hold after the worst power loss; null: it would not be there. */
export function durableFile(path: string): Buffer | null {
  let at: Node = root;
  for (const part of partsOf(path)) {
    const next: Node | undefined = at.kind === 'folder' ? at.durable.get(part) : undefined;
    if (!next) return null;
    at = next;
  }
  return at.kind === 'file' ? at.durable : null;
}

function fault(code: string, operation: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: simulated, ${operation} '${path}'`), { code, path });
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '');

function find(path: string, operation: string): Node {
  let at: Node = root;
  for (const part of partsOf(path)) {
    if (at.kind !== 'folder') throw fault('ENOTDIR', operation, path);
    const next = at.entries.get(part);
    if (!next) throw fault('ENOENT', operation, path);
    at = next;
  }
  return at;
}

function parentOf(path: string, operation: string): { parent: Folder; name: string } {
  const parts = partsOf(path);
  const name = parts.pop()!;
  const parent = find(parts.join('/'), operation);
  if (parent.kind !== 'folder') throw fault('ENOTDIR', operation, path);
  return { parent, name };
}

function fileAt(path: string, operation: string): File {
  const node = find(path, operation);
  if (node.kind !== 'file') throw fault('EISDIR', operation, path);
  return node;
}

const pathsOf = (path: string | URL): string => (path instanceof URL ? path.pathname : path);

/** An operation that takes time, may fail, and at which the process may die. */
const slow = <T>(operation: string, path: string, act: () => T): Promise<T> =>
  theScheduler().point(`${operation} ${path}`, act);

function makeFolders(path: string): void {
  let at = root;
  for (const part of partsOf(path)) {
    let next = at.entries.get(part);
    if (!next) at.entries.set(part, (next = folder()));
    if (next.kind !== 'folder') throw fault('ENOTDIR', 'mkdir', path);
    at = next;
  }
}

function createFile(path: string, flags: string): File {
  const { parent, name } = parentOf(path, 'open');
  const existing = parent.entries.get(name);
  if (existing && flags.includes('x')) throw fault('EEXIST', 'open', path);
  if (existing?.kind === 'folder') throw fault('EISDIR', 'open', path);
  if (existing) {
    if (!flags.startsWith('a')) write(existing, Buffer.alloc(0));
    return existing;
  }
  const file: File = { kind: 'file', content: Buffer.alloc(0), durable: Buffer.alloc(0), changes: ++made };
  parent.entries.set(name, file);
  return file;
}

function write(file: File, content: Buffer): void {
  file.content = content;
  file.changes = ++made;
}

type Content = string | Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

const isBytes = (content: Content): content is string | Uint8Array =>
  typeof content === 'string' || content instanceof Uint8Array;

async function append(file: File, path: string, content: Content): Promise<void> {
  if (isBytes(content)) {
    await slow('write', path, () => write(file, Buffer.concat([file.content, Buffer.from(content as string)])));
    return;
  }
  for await (const part of content) await append(file, path, part);
}

async function* bytesFrom(path: string, start: number): AsyncGenerator<Buffer> {
  const file = fileAt(path, 'open');
  yield await slow('read', path, () => file.content.subarray(start));
}

const statOf = (node: Node) => ({
  isFile: () => node.kind === 'file',
  isDirectory: () => node.kind === 'folder',
  isSymbolicLink: () => false,
  size: node.kind === 'file' ? node.content.length : 0,
  mtimeMs: node.kind === 'file' ? node.changes : 0,
  ctimeMs: 0,
  mode: 0o40700,
});

/** An open file survives its name, as everywhere. */
function handleOf(node: Node, path: string) {
  const file = () => {
    if (node.kind === 'file') return node;
    throw fault('EISDIR', 'read', path);
  };
  return {
    writeFile: (content: Content) => append(file(), path, content),
    write: (content: Uint8Array) => append(file(), path, content),
    readFile: () => slow('read', path, () => Buffer.from(file().content)),
    stat: async () => statOf(node),
    sync: () =>
      slow('fsync', path, () => {
        if (node.kind === 'file') node.durable = node.content;
        else node.durable = new Map(node.entries);
      }),
    createReadStream: ({ start = 0 }: { start?: number } = {}) => Readable.from([file().content.subarray(start)]),
    close: async () => {},
  };
}

/** Takes the place of node:fs/promises. */
export const filesPromises = {
  mkdir: (path: string, options?: { recursive?: boolean }) =>
    slow('mkdir', path, () => {
      if (options?.recursive) return makeFolders(path);
      const { parent, name } = parentOf(path, 'mkdir');
      if (parent.entries.has(name)) throw fault('EEXIST', 'mkdir', path);
      parent.entries.set(name, folder());
    }),
  async mkdtemp(prefix: string) {
    const path = `${prefix}${++made}`;
    await slow('mkdir', path, () => makeFolders(path));
    return path;
  },
  rm: (path: string, options: { recursive?: boolean; force?: boolean } = {}) =>
    slow('rm', path, () => {
      try {
        const { parent, name } = parentOf(path, 'rm');
        const node = parent.entries.get(name);
        if (!node) throw fault('ENOENT', 'rm', path);
        if (node.kind === 'folder' && !options.recursive) throw fault('EISDIR', 'rm', path);
        parent.entries.delete(name);
      } catch (error) {
        if (!options.force || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }),
  rename: (from: string, to: string) =>
    slow('rename', to, () => {
      const source = parentOf(from, 'rename');
      const node = source.parent.entries.get(source.name);
      if (!node) throw fault('ENOENT', 'rename', from);
      const target = parentOf(to, 'rename');
      if (target.parent.entries.get(target.name)?.kind === 'folder') throw fault('EISDIR', 'rename', to);
      source.parent.entries.delete(source.name);
      target.parent.entries.set(target.name, node);
    }),
  async open(path: string, flags = 'r') {
    if (flags === 'r') return handleOf(find(path, 'open'), path);
    return handleOf(await slow('create', path, () => createFile(path, flags)), path);
  },
  async writeFile(path: string | ReturnType<typeof handleOf>, content: Content) {
    if (typeof path !== 'string') return path.writeFile(content);
    const file = await slow('create', path, () => createFile(path, 'w'));
    await append(file, path, content);
  },
  async readFile(path: string | URL, encoding?: BufferEncoding | { encoding?: BufferEncoding }) {
    const name = typeof encoding === 'string' ? encoding : encoding?.encoding;
    const content = await slow('read', pathsOf(path), () => Buffer.from(fileAt(pathsOf(path), 'open').content));
    return name ? content.toString(name) : content;
  },
  async readdir(path: string, options: { withFileTypes?: boolean } = {}) {
    const node = await slow('readdir', path, () => find(path, 'readdir'));
    if (node.kind !== 'folder') throw fault('ENOTDIR', 'readdir', path);
    const entries = [...node.entries].sort(([a], [b]) => (a < b ? -1 : 1));
    return options.withFileTypes
      ? entries.map(([name, each]) => ({ ...statOf(each), name }))
      : entries.map(([name]) => name);
  },
  stat: async (path: string) => statOf(find(path, 'stat')),
  lstat: async (path: string) => statOf(find(path, 'lstat')),
  realpath: async (path: string) => (find(path, 'realpath'), `/${partsOf(path).join('/')}`),
  chmod: async (path: string) => void find(path, 'chmod'),
};

/** Takes the place of what the code under test uses of node:fs. */
export const filesBySync = {
  createReadStream: (path: string, { start = 0 }: { start?: number } = {}) => Readable.from(bytesFrom(path, start)),
  mkdtempSync: (prefix: string) => {
    const path = `${prefix}${++made}`;
    makeFolders(path);
    return path;
  },
  rmSync: () => {},
};
