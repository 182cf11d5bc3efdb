// Trajectory groups as a blob of lines: a head (a job's settings, a log's step), then one group per line, so that neither
// writing nor training ever holds the whole of it as text. Hundreds of megabytes are common. The last line is a checksum of
// the others: what a disk cut off or changed is not trained on.
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
  const hash = createHash('sha256');
  for (const item of [head, ...groups]) {
    const line = JSON.stringify(item);
    hash.update(line);
    yield Buffer.from(`${line}\n`);
  }
  yield Buffer.from(`${JSON.stringify({ sha256: hash.digest('hex') })}\n`);
}

/** Throws `damaged_data`, also while the groups are read. */
export async function openGroups<Head>(blobs: Pick<BlobStore, 'stream'>, name: string): Promise<StoredGroups<Head>> {
  const content = await blobs.stream(name);
  if (!content) throw new AppError('internal', `The body ${name} is gone from the blob store.`);
  const hash = createHash('sha256');
  const lines = splitLines(content);
  const damaged = () => new AppError('damaged_data', `The data ${name} is damaged: other bytes come back than were stored. Send it again.`); // prettier-ignore
  const read = (line: Buffer): unknown => {
    hash.update(line);
    try {
      return JSON.parse(line.toString('utf8'));
    } catch {
      throw damaged();
    }
  };
  const first = await lines.next();
  if (first.done) throw damaged();
  const head = read(first.value) as Head;
  async function* groups(): AsyncGenerator<TrajectoryGroup> {
    let last: Buffer | null = null; // held back: the end may be a checksum
    for await (const line of lines) {
      if (last) yield read(last) as TrajectoryGroup;
      last = line;
    }
    if (last?.toString('utf8') !== JSON.stringify({ sha256: hash.copy().digest('hex') })) throw damaged();
  }
  return { head, groups: groups(), digest: () => hash.copy().digest('hex') };
}
