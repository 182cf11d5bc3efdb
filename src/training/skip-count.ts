// Counts why data is not trained on.
import type { Skipped } from '#domain/training-job';

export function createSkipCount() {
  const counts = new Map<string, number>();
  return {
    add(reason: string, count = 1): void {
      if (count > 0) counts.set(reason, (counts.get(reason) ?? 0) + count);
    },
    counts: (): Skipped => Object.fromEntries(counts),
  };
}

/** `2 too_long, 1 unknown_tokens`; empty: nothing was skipped. */
export const skippedInWords = (skipped: Skipped): string =>
  Object.entries(skipped)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
