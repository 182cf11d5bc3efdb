// Trajectory groups as a blob of lines: a head (a job's settings, a log's step), then one group per line, so that neither writing nor
// training ever holds all of it as text. Hundreds of megabytes are common. The last line is a checksum of the others, so that data that
// was truncated or changed is not trained on.
import { createHash } from 'node:crypto';
import { AppError } from '#domain/errors';
import type { RlConfigInput, RlJobBody, TrajectoryGroup } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import { createYielder } from '#base/yield-to-loop';
import { splitLines } from '#base/lines';
import { createDataDigest } from './data-digest.ts';

/** Precedes the groups in a job's body. Absent warnings: there were none, or it is from an older version. */
export type RlJobHead = RlConfigInput & Partial<Pick<RlJobBody, 'warnings'>>;

export interface StoredGroups<Head> {
  readonly head: Head;
  /** Can be read once. */
  readonly groups: AsyncIterable<TrajectoryGroup>;
  /** Digest of what was read (data-digest.ts). */
  readonly digest: () => string;
}

export function writeGroups(
  blobs: Pick<BlobStore, 'put'>,
  name: string,
  head: object,
  groups: Iterable<TrajectoryGroup> | AsyncIterable<TrajectoryGroup>,
): Promise<{ sizeBytes: number }> {
  return blobs.put(name, linesOf(head, groups));
}

async function* linesOf(
  head: object,
  groups: Iterable<TrajectoryGroup> | AsyncIterable<TrajectoryGroup>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const yieldToLoop = createYielder();
  const hashed = (text: string): Uint8Array => {
    const bytes = Buffer.from(text);
    hash.update(bytes);
    return bytes;
  };
  yield hashed(JSON.stringify(head));
  yield NEW_LINE;
  for await (const group of groups) {
    for (const text of textsOf(group)) {
      yield hashed(text);
      await yieldToLoop();
    }
    yield NEW_LINE;
  }
  yield Buffer.from(`${JSON.stringify({ sha256: hash.digest('hex') })}\n`);
}

const NEW_LINE = Buffer.from('\n');
const TEXT_CHARACTERS = 65_536;

/** Equal to what JSON.stringify returns, which would block other requests while it writes a large group. */
function* textsOf({ trajectories, ...rest }: TrajectoryGroup): Generator<string> {
  let text = '{"trajectories":[';
  for (const [i, trajectory] of trajectories.entries()) {
    text += `${i > 0 ? ',' : ''}${JSON.stringify(trajectory)}`;
    if (text.length < TEXT_CHARACTERS) continue;
    yield text;
    text = '';
  }
  const others = JSON.stringify(rest).slice(1);
  yield `${text}]${others === '}' ? '' : ','}${others}`;
}

/** `name`: the blob's name in error messages. Throws `damaged_data`, also while the groups are read. */
export async function readGroups<Head>(content: AsyncIterable<Uint8Array>, name: string): Promise<StoredGroups<Head>> {
  const hash = createHash('sha256');
  const digest = createDataDigest();
  const lines = splitLines(content);
  const damaged = () =>
    new AppError('damaged_data', `The data ${name} is damaged: the stored bytes have changed. Send it again.`);
  const read = <T>(line: Buffer, as: (value: unknown) => T): T => {
    hash.update(line);
    try {
      return as(JSON.parse(line.toString('utf8')));
    } catch {
      throw damaged();
    }
  };
  const readGroup = (line: Buffer) =>
    read(line, (value) => {
      digest.addGroup(line, value);
      return value as TrajectoryGroup;
    });
  const first = await lines.next();
  if (first.done) throw damaged();
  const head = read(first.value, (value) => {
    digest.addHead(first.value, value as object);
    return value as Head;
  });
  async function* groups(): AsyncGenerator<TrajectoryGroup> {
    let last: Buffer | null = null; // held back: the last line may be a checksum
    for await (const line of lines) {
      if (last) yield readGroup(last);
      last = line;
    }
    if (last?.toString('utf8') !== JSON.stringify({ sha256: hash.copy().digest('hex') })) throw damaged();
  }
  return { head, groups: groups(), digest: () => digest.read() };
}
