// Which samples are in memory: those that have not been fetched, up to a maximum, and the newest of those that have, because an answer may
// be lost on its way. Knows nothing about the content of a sample.
import type { Clock } from '#base/clock';

export interface KeptSample {
  readonly requestId: string;
  /** The client's own id for it. */
  readonly number: string;
  /** Null: still running. */
  endedAtMs: number | null;
}

export interface KeptSamples<S extends KeptSample> {
  find(requestId: string): S | null;
  findByNumber(number: string): S | null;
  /** False: too many samples have not been fetched. */
  add(sample: S): boolean;
  /** Its answer was sent: it may be dropped for newer ones. */
  fetched(sample: S): void;
  /** Drops samples that ended long ago. */
  clear(): void;
}

export interface KeptSamplesOptions {
  readonly clock: Clock;
  /** Maximum number not fetched; as many again are kept after they were fetched. */
  readonly samplesMax: number;
  readonly keptMs: number;
}

export function createKeptSamples<S extends KeptSample>({
  clock,
  samplesMax,
  keptMs,
}: KeptSamplesOptions): KeptSamples<S> {
  const samples = new Map<string, S>();
  const byNumber = new Map<string, S>();
  /** Oldest first. */
  const fetched = new Set<S>();

  function forget(sample: S): void {
    samples.delete(sample.requestId);
    byNumber.delete(sample.number);
    fetched.delete(sample);
  }

  function clear(): void {
    const before = clock.now() - keptMs;
    for (const sample of samples.values()) if (sample.endedAtMs !== null && sample.endedAtMs <= before) forget(sample);
  }

  return {
    find: (requestId) => samples.get(requestId) ?? null,
    findByNumber: (number) => byNumber.get(number) ?? null,
    add(sample) {
      const isFull = () => samples.size - fetched.size >= samplesMax;
      if (isFull()) clear();
      if (isFull()) return false;
      samples.set(sample.requestId, sample);
      byNumber.set(sample.number, sample);
      return true;
    },
    fetched(sample) {
      if (!samples.has(sample.requestId)) return;
      fetched.delete(sample);
      fetched.add(sample);
      if (fetched.size <= samplesMax) return;
      const [oldest] = fetched;
      forget(oldest!);
    },
    clear,
  };
}
