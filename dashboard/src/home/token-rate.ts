// Tokens per second, out of how much the count of today's tokens grew over the last minute. Requests are counted when they end, so
// that one long answer comes as a step; a minute evens that out.
import { useRef } from 'preact/hooks';

const WINDOW_MS = 60_000;

interface Sample {
  readonly atMs: number;
  readonly tokens: number;
}

/** Null: nothing to compare with yet. A count that fell (a new day) begins anew. */
export function tokenRate(samples: readonly Sample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.atMs === first.atMs) return null;
  return ((last.tokens - first.tokens) * 1000) / (last.atMs - first.atMs);
}

/** `tokens` is a new object's each time it was asked for. */
export function useTokenRate(answer: object | null, tokens: number): number | null {
  const seen = useRef<{ answer: object | null; samples: readonly Sample[] }>({ answer: null, samples: [] });
  if (answer !== null && answer !== seen.current.answer) {
    const sample = { atMs: performance.now(), tokens };
    const kept = seen.current.samples.filter((old) => sample.atMs - old.atMs <= WINDOW_MS && old.tokens <= tokens);
    seen.current = { answer, samples: [...kept, sample] };
  }
  return tokenRate(seen.current.samples);
}
