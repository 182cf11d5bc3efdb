// The token record of an RL job, as a blob: for each sequence its tokens, which of them were trained, and their log-probabilities under
// the sampler, the trainer and other policies. Written once, when the job ends; read as far as needed.
//
// A frame is: length of its header, length of its payload (uint32, little endian), SHA-256 of both, header (JSON), payload. The first
// frame describes the whole; then there is one per sequence, by group, trajectory and sequence. Payload: the tokens after the prefix
// shared with the previous sequence of the group (int32), then one float32 array per trained token for each of `arrays`, NaN where a
// number is unknown. Numbers have the machine's byte order, which is little endian wherever this runs.
import { createHash } from 'node:crypto';
import { createYielder } from '#base/yield-to-loop';
import { AppError } from '#domain/errors';
import type { Origin } from '#training/packing';
import type { Outcome } from '#training/rl-plan';
import { createByteReader, type ByteReader } from './byte-reader.ts';
import type { ResolvedConfig } from './resolved-config.ts';

/** For each trained token: log-probabilities, nats. `start`, `reference`: only if the job asked for those policies. */
export type RecordedArray = 'sampler' | 'trainer' | 'start' | 'reference';

export interface RecordHead {
  readonly version: 1;
  readonly config: ResolvedConfig;
  readonly arrays: readonly RecordedArray[];
  readonly sequences: number;
  /** Number of gradient steps taken: a job may end before its last. */
  readonly stepsDone: number;
  readonly outcomes: readonly Outcome[];
}

/** The trained tokens of one turn. */
export interface RecordedRun {
  readonly length: number;
  /** The step of the job's model that sampled them; null: not known. */
  readonly policyStep: number | null;
  /** Absent: that of the sequence. */
  readonly advantage?: number;
}

export interface RecordedSequence extends Origin {
  /** The gradient step that trained it: 1, 2, … */
  readonly step: number;
  readonly advantage: number;
  readonly weight: number;
  /** All its trained tokens, in order. Empty in records of older versions. */
  readonly runs: readonly RecordedRun[];
  readonly tokens: Int32Array;
  /** For each token, 1 if it is trained. */
  readonly trained: Uint8Array;
  readonly values: Readonly<Partial<Record<RecordedArray, Float32Array>>>;
}

interface SequenceHeader extends Origin, Pick<RecordedSequence, 'step' | 'advantage' | 'weight'> {
  /** `runs` of the sequence. Absent: an older version wrote it. */
  readonly turns?: readonly RecordedRun[];
  /** Number of leading tokens shared with the previous sequence. */
  readonly shared: number;
  /** Run lengths: context tokens, then trained ones, then context, … */
  readonly runs: readonly number[];
}

const LENGTHS_BYTES = 8;
const DIGEST_BYTES = 32;
/** Prevents a corrupt length from allocating all memory. */
const FRAME_BYTES_MAX = 1 << 30;

/** `sequences`: sorted by group, trajectory and sequence. */
export async function* writeRecord(
  head: RecordHead,
  sequences: Iterable<RecordedSequence>,
): AsyncGenerator<Uint8Array> {
  const yieldToLoop = createYielder();
  yield* frame(head, []);
  let before: { group: number; tokens: Int32Array } | null = null;
  for (const sequence of sequences) {
    const { group, trajectory, step, advantage, weight, runs: turns, tokens, trained, values } = sequence;
    const shared = before?.group === group ? commonLength(before.tokens, tokens) : 0;
    const place = { group, trajectory, sequence: sequence.sequence };
    const header: SequenceHeader = { ...place, step, advantage, weight, turns, shared, runs: runsOf(trained) };
    yield* frame(header, [tokens.subarray(shared), ...head.arrays.map((name) => values[name]!)]);
    before = { group, tokens };
    await yieldToLoop();
  }
}

function* frame(header: object, arrays: readonly (Int32Array | Float32Array)[]): Generator<Uint8Array> {
  const head = Buffer.from(JSON.stringify(header));
  const parts = arrays.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32LE(head.length, 0);
  lengths.writeUInt32LE(
    parts.reduce((sum, { length }) => sum + length, 0),
    4,
  );
  const hash = createHash('sha256').update(head);
  for (const part of parts) hash.update(part);
  yield Buffer.concat([lengths, hash.digest(), head, ...parts]);
}

export interface ReadRecord {
  readonly head: RecordHead;
  /** Can be read once. Only wanted sequences are decoded and checked. */
  sequences(wanted: (place: Origin) => boolean): AsyncIterable<RecordedSequence>;
  close(): Promise<void>;
}

/** `name`: the blob's name in error messages. Throws `damaged_data`, also while sequences are read. */
export async function readRecord(content: AsyncIterable<Uint8Array>, name: string): Promise<ReadRecord> {
  const damaged = () => new AppError('damaged_data', `The data ${name} is damaged: the stored bytes have changed.`);
  const reader = createByteReader(content);
  const first = await readFrame<RecordHead>(reader, damaged);
  const head = first.header;
  return {
    head,
    async *sequences(wanted) {
      try {
        const yieldToLoop = createYielder();
        let before: { group: number; tokens: Int32Array } | null = null;
        for (let read = 0; read < head.sequences; read++) {
          await yieldToLoop();
          const { header, payload } = await readFrame<SequenceHeader>(reader, damaged);
          const { group, shared, runs } = header;
          const length = runs.reduce((sum, run) => sum + run, 0);
          const trained = fillRuns(runs, length);
          const tokens = new Int32Array(length);
          tokens.set((before?.tokens ?? tokens).subarray(0, shared));
          const rest = (length - shared) * 4;
          tokens.set(new Int32Array(copied(payload, 0, rest)), shared);
          before = { group, tokens };
          if (!wanted(header)) continue;
          const count = trained.reduce((sum, one) => sum + one, 0);
          const values = Object.fromEntries(
            head.arrays.map((array, i) => {
              const from = rest + i * count * 4;
              return [array, new Float32Array(copied(payload, from, from + count * 4))];
            }),
          );
          const { trajectory, sequence, step, advantage, weight, turns = [] } = header;
          yield { group, trajectory, sequence, step, advantage, weight, runs: turns, tokens, trained, values };
        }
      } finally {
        await reader.close();
      }
    },
    close: () => reader.close(),
  };
}

/** Copied into its own memory, so that it is aligned for typed arrays. */
const copied = (bytes: Buffer, from: number, to: number): ArrayBuffer =>
  Uint8Array.from(bytes.subarray(from, to)).buffer;

async function readFrame<T>(reader: ByteReader, damaged: () => AppError): Promise<{ header: T; payload: Buffer }> {
  const lengths = await reader.take(LENGTHS_BYTES);
  if (!lengths) throw damaged();
  const [headBytes, payloadBytes] = [lengths.readUInt32LE(0), lengths.readUInt32LE(4)];
  if (headBytes + payloadBytes > FRAME_BYTES_MAX) throw damaged();
  const digest = await reader.take(DIGEST_BYTES);
  const bytes = await reader.take(headBytes + payloadBytes);
  if (!digest || !bytes || !createHash('sha256').update(bytes).digest().equals(digest)) throw damaged();
  const header = JSON.parse(bytes.subarray(0, headBytes).toString('utf8')) as T;
  return { header, payload: bytes.subarray(headBytes) };
}

function commonLength(a: Int32Array, b: Int32Array): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

/** Lengths of alternating runs, beginning with zeros. */
function runsOf(trained: Uint8Array): number[] {
  const runs: number[] = [];
  let value = 0;
  for (let at = 0; at < trained.length; value = 1 - value) {
    const start = at;
    while (at < trained.length && trained[at] === value) at++;
    runs.push(at - start);
  }
  return runs;
}

function fillRuns(runs: readonly number[], length: number): Uint8Array {
  const trained = new Uint8Array(length);
  let at = 0;
  for (const [i, run] of runs.entries()) {
    if (i % 2 === 1) trained.fill(1, at, at + run);
    at += run;
  }
  return trained;
}
