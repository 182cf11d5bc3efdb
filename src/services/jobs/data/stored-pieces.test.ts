import { expect, test } from 'vitest';
import type { TrajectoryGroup } from '#domain/trajectory';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { readStoredPieces, type StoredPiece, type Wanted } from './stored-pieces.ts';
import { writeGroups } from './stored-groups.ts';

const groupOf = (...texts: string[]): TrajectoryGroup => ({
  trajectories: texts.map((content, reward) => ({
    histories: [{ turns: [{ kind: 'message', message: { role: 'user', content } }], tools: null }],
    reward,
    metrics: {},
  })),
  exceptionCount: texts.length,
  metrics: { length: 3 },
});

const HOSTILE = ['"}],[{\\', '\u001b[31m\u0000\n', '{"sha256":"', 'é😀\ud800', '\\"', ']}'];
const GROUPS = [groupOf(), groupOf(...HOSTILE), groupOf('a'), groupOf(...HOSTILE.toReversed())];
const ALL: Wanted = { group: () => true, trajectory: () => true };

async function stored(): Promise<Buffer> {
  const blobs = createMemoryBlobs();
  await writeGroups(blobs, 'body', { learningRate: 1 }, GROUPS);
  return Buffer.from((await blobs.find('body'))!);
}

/** In chunks of this size, each in the same memory. */
async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  const reused = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    const length = bytes.copy(reused, 0, at, at + size);
    yield reused.subarray(0, length);
  }
}

async function read(bytes: Buffer, size: number, wanted: Wanted): Promise<StoredPiece[]> {
  const pieces: StoredPiece[] = [];
  for await (const piece of readStoredPieces(chunks(bytes, size), 'body', wanted)) pieces.push(piece);
  return pieces;
}

test.each([1, 2, 7, 17, 1_000, 1 << 20])(
  'in chunks of %i bytes, all groups come back as they were written',
  async (size) => {
    const pieces = await read(await stored(), size, ALL);
    expect(JSON.parse(String((pieces[0] as { bytes: Buffer }).bytes))).toEqual({ learningRate: 1 });
    expect(pieces.at(-1)).toEqual({ kind: 'end', groups: GROUPS.length });
    const groups = GROUPS.map((_, group) => {
      const own = pieces.filter((piece) => 'group' in piece && piece.group === group) as { bytes: Buffer }[];
      const [trajectories, rest] = [own.slice(0, -1), own.at(-1)!];
      return {
        trajectories: trajectories.map(({ bytes }) => JSON.parse(String(bytes)) as object),
        ...(JSON.parse(String(rest.bytes)) as object),
      };
    });
    expect(groups).toEqual(JSON.parse(JSON.stringify(GROUPS)));
  },
);

test('groups that are not requested are skipped', async () => {
  const wanted = { group: (group: number) => group === 3, trajectory: (index: number) => index === 1 };
  const pieces = await read(await stored(), 64, wanted);
  expect(pieces.map((piece) => [piece.kind, 'group' in piece ? piece.group : null])).toEqual([
    ['head', null],
    ['trajectory', 3],
    ['group', 3],
    ['end', null],
  ]);
  expect(pieces[1]).toMatchObject({ index: 1 });
  expect(pieces[2]).toMatchObject({ count: HOSTILE.length });
});

test('a truncated blob is reported as damaged', async () => {
  const bytes = await stored();
  for (const length of [0, 5, 40, 200, bytes.length - 120])
    await expect(read(bytes.subarray(0, length), 64, ALL)).rejects.toMatchObject({ code: 'damaged_data' });
});
