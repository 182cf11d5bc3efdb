// Which samples are in memory: those that have not been fetched, up to a maximum of which no payer has more than a share, and the newest of
// those that have, because an answer may be lost on its way. Knows nothing about the content of a sample.
import type { Clock } from '#base/clock';
import { createTally, hasRoom } from '#base/tally';

export interface KeptSample {
  readonly requestId: string;
  /** The client's own id for it. */
  readonly number: string;
  readonly payer: string;
  /** Null: still running. */
  endedAtMs: number | null;
  /** Of its request and of what was drawn while it runs, then of its answer. */
  bytes: number;
}

export interface KeptSamples<S extends KeptSample> {
  find(requestId: string): S | null;
  findByNumber(number: string): S | null;
  /** False: too many samples have not been fetched, or they are too long together. */
  add(sample: S): boolean;
  /** More of it was drawn. */
  grew(sample: S, bytes: number): void;
  /** `bytes`: of its answer. */
  ended(sample: S, bytes: number): void;
  /** Its answer was sent: it may be dropped for newer ones. */
  fetched(sample: S): void;
  /** Drops samples that ended long ago. */
  clear(): void;
}

export interface KeptSamplesOptions {
  readonly clock: Clock;
  /** Maximum number not fetched; as many again are kept after they were fetched. */
  readonly samplesMax: number;
  /** Of all requests and answers together: no sample begins beyond it, but what runs may end. */
  readonly bytesMax: number;
  readonly keptMs: number;
}

export function createKeptSamples<S extends KeptSample>({
  clock,
  samplesMax,
  bytesMax,
  keptMs,
}: KeptSamplesOptions): KeptSamples<S> {
  const samples = new Map<string, S>();
  const byNumber = new Map<string, S>();
  /** Oldest first. */
  const fetched = new Set<S>();
  const [unfetched, bytes] = [createTally(), createTally()];

  function forget(sample: S): void {
    if (!samples.delete(sample.requestId)) return;
    byNumber.delete(sample.number);
    bytes.add(sample.payer, -sample.bytes);
    if (!fetched.delete(sample)) unfetched.add(sample.payer, -1);
  }

  function clear(): void {
    const before = clock.now() - keptMs;
    for (const sample of samples.values()) if (sample.endedAtMs !== null && sample.endedAtMs <= before) forget(sample);
  }

  /** Those that were fetched go first, the oldest first. */
  function forgetFetched(isOver: () => boolean): void {
    for (const sample of fetched) {
      if (!isOver()) return;
      forget(sample);
    }
  }

  return {
    find: (requestId) => samples.get(requestId) ?? null,
    findByNumber: (number) => byNumber.get(number) ?? null,
    add(sample) {
      const { payer } = sample;
      const isTooLong = () => !hasRoom(1, bytes.of(payer), bytesMax); // how long its answer will be is unknown
      const isFull = () => isTooLong() || !hasRoom(1, unfetched.of(payer), samplesMax);
      forgetFetched(isTooLong);
      if (isFull()) clear();
      if (isFull()) return false;
      samples.set(sample.requestId, sample);
      byNumber.set(sample.number, sample);
      unfetched.add(payer, 1);
      bytes.add(payer, sample.bytes);
      return true;
    },
    grew(sample, size) {
      if (!samples.has(sample.requestId)) return;
      bytes.add(sample.payer, size);
      sample.bytes += size;
    },
    ended(sample, size) {
      sample.endedAtMs = clock.now();
      if (!samples.has(sample.requestId)) return;
      bytes.add(sample.payer, size - sample.bytes);
      sample.bytes = size;
    },
    fetched(sample) {
      if (!samples.has(sample.requestId)) return;
      if (!fetched.delete(sample)) unfetched.add(sample.payer, -1);
      fetched.add(sample);
      forgetFetched(() => fetched.size > samplesMax);
    },
    clear,
  };
}
