// Trajectory groups as a blob of lines: a head (a job's settings, a log's step), then one group per line, so that neither
// writing nor training ever holds the whole of it as text. Hundreds of megabytes are common.
import { createHash } from 'node:crypto';
import { AppError } from '#domain/errors';
import type { TrajectoryGroup } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';

export interface StoredGroups<Head> {
  readonly head: Head;
  /** Once. */
  readonly groups: AsyncIterable<TrajectoryGroup>;
  /** Of all that was read: the same data has the same digest, whatever the job is called. */
  readonly digest: () => string;
}

export function writeGroups(
  blobs: BlobStore,
  name: string,
  head: object,
  groups: readonly TrajectoryGroup[],
): Promise<{ sizeBytes: number }> {
  return blobs.put(name, linesOf(head, groups));
}

async function* linesOf(head: object, groups: readonly TrajectoryGroup[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head)}\n`);
  for (const group of groups) yield Buffer.from(`${JSON.stringify(group)}\n`);
}

export async function openGroups<Head>(blobs: BlobStore, name: string): Promise<StoredGroups<Head>> {
  const content = await blobs.stream(name);
  if (!content) throw new AppError('internal', `The body ${name} is gone from the blob store.`);
  const hash = createHash('sha256');
  const lines = splitLines(content, (line) => void hash.update(line));
  const first = await lines.next();
  const head = JSON.parse(first.done ? '{}' : first.value) as Head;
  async function* groups(): AsyncGenerator<TrajectoryGroup> {
    for await (const line of lines) yield JSON.parse(line) as TrajectoryGroup;
  }
  return { head, groups: groups(), digest: () => hash.digest('hex') };
}

/** By line feeds alone: node:readline also splits at separators that JSON leaves in strings. */
async function* splitLines(content: AsyncIterable<Uint8Array>, onLine: (line: Buffer) => void): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  for await (const chunk of content) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...parts, chunk.subarray(start, end)]);
      onLine(line);
      yield line.toString('utf8');
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.slice(start)); // a copy: the stream may reuse its buffer
  }
}
