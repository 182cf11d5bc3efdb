// Trajectory groups as a blob of lines: a head (a job's settings, a log's step), then one group per line, so that neither
// writing nor training ever holds the whole of it as text. Hundreds of megabytes are common.
import { createHash } from 'node:crypto';
import { AppError } from '#domain/errors';
import type { TrajectoryGroup } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import { splitLines } from './lines.ts';

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
  const lines = splitLines(content);
  const read = (line: Buffer): unknown => {
    hash.update(line);
    return JSON.parse(line.toString('utf8'));
  };
  const first = await lines.next();
  const head = (first.done ? {} : read(first.value)) as Head;
  async function* groups(): AsyncGenerator<TrajectoryGroup> {
    for await (const line of lines) yield read(line) as TrajectoryGroup;
  }
  return { head, groups: groups(), digest: () => hash.digest('hex') };
}
