import { expect, test } from 'vitest';
import { readRecord, writeRecord, type RecordedSequence, type RecordHead } from './token-record.ts';

const head: RecordHead = {
  version: 1,
  config: { learning_rate: 1e-4 },
  arrays: ['sampler', 'trainer'],
  sequences: 3,
  stepsDone: 2,
  outcomes: [{ group: 1, trajectory: 0, reason: 'équal "rewards"' }],
};

function sequenceOf(group: number, trajectory: number, tokens: number[], trained: number[]): RecordedSequence {
  const count = trained.filter((one) => one === 1).length;
  const values = (base: number) => Float32Array.from({ length: count }, (_, i) => (i === 1 ? NaN : -base - i / 3));
  return {
    group,
    trajectory,
    sequence: 0,
    step: 1 + group,
    advantage: 0.1,
    weight: 2,
    runs: [
      { length: 1, policyStep: 4, advantage: 0.25 },
      { length: count - 1, policyStep: null },
    ],
    tokens: Int32Array.from(tokens),
    trained: Uint8Array.from(trained),
    values: { sampler: values(1), trainer: values(2) },
  };
}

const SEQUENCES = [
  sequenceOf(0, 0, [5, 6, 7, 8, 9], [0, 0, 1, 1, 0]),
  sequenceOf(0, 2, [5, 6, 7, 1_000_000], [0, 1, 1, 1]),
  sequenceOf(3, 0, [5, 6], [0, 1]),
];

async function stored(): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of writeRecord(head, SEQUENCES)) parts.push(part);
  return Buffer.concat(parts);
}

async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  const reused = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) yield reused.subarray(0, bytes.copy(reused, 0, at, at + size));
}

async function read(bytes: Buffer, size = 64, wanted = (_: { group: number }): boolean => true) {
  const record = await readRecord(chunks(bytes, size), 'jobs/x/record.bin');
  const sequences: RecordedSequence[] = [];
  for await (const sequence of record.sequences(wanted)) sequences.push(sequence);
  return { head: record.head, sequences };
}

test.each([1, 3, 64, 1 << 16])('a record comes back as it was written, in chunks of %i bytes', async (size) => {
  expect(await read(await stored(), size)).toEqual({ head, sequences: SEQUENCES });
});

test('trajectories that are not requested are left out; a prefix shared with them is there', async () => {
  const { sequences } = await read(await stored(), 64, (place) => place.group === 0);
  expect(sequences).toEqual(SEQUENCES.slice(0, 2));
  const one = await read(await stored(), 64, (place) => 'trajectory' in place && place.trajectory === 2);
  expect(one.sequences).toEqual([SEQUENCES[1]]);
});

test('any changed or missing byte is reported as damage', async () => {
  const bytes = await stored();
  const damaged = { code: 'damaged_data' };
  for (let at = 0; at < bytes.length; at += 7) {
    const other = Buffer.from(bytes);
    other[at]! ^= 0x10;
    await expect(read(other), `byte ${at}`).rejects.toMatchObject(damaged);
  }
  for (let length = 0; length < bytes.length; length += 41)
    await expect(read(bytes.subarray(0, length)), `of ${length} bytes`).rejects.toMatchObject(damaged);
});
