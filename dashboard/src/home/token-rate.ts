// Computes tokens per second from how much today's token count grew over the last minute. Requests are counted when they end, so one
// long answer arrives as a step; a minute evens that out.
import { useRef } from 'preact/hooks';

const WINDOW_MS = 60_000;

interface Sample {
  readonly atMs: number;
  readonly tokens: number;
}

/** Null: nothing to compare with yet. If the count falls (a new day), the window starts over. */
export function tokenRate(samples: readonly Sample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.atMs === first.atMs) return null;
  return ((last.tokens - first.tokens) * 1000) / (last.atMs - first.atMs);
}

/** `answer` is a new object each time the count was loaded. */
export function useTokenRate(answer: object | null, tokens: number): number | null {
  const seen = useRef<{ answer: object | null; samples: readonly Sample[] }>({ answer: null, samples: [] });
  if (answer !== null && answer !== seen.current.answer) {
    const sample = { atMs: performance.now(), tokens };
    const kept = seen.current.samples.filter((old) => sample.atMs - old.atMs <= WINDOW_MS && old.tokens <= tokens);
    seen.current = { answer, samples: [...kept, sample] };
  }
  return tokenRate(seen.current.samples);
}
