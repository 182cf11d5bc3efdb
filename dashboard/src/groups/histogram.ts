// Turns numbers into bars: how many fall into each of a few intervals of equal width. A few distinct numbers get a bar each, because
// rewards are often 0 and 1.

export interface Bar {
  readonly from: number;
  readonly to: number;
  /** The bar stands for a single number: `from` equals `to`. */
  readonly isPoint: boolean;
  readonly count: number;
}

const POINTS_MAX = 8;

/** In ascending order. Empty for no numbers. */
export function histogram(values: readonly number[], barsMax = 12): Bar[] {
  const known = values.filter(Number.isFinite);
  const points = [...new Set(known)].sort((a, b) => a - b);
  if (points.length <= POINTS_MAX)
    return points.map((point) => ({
      from: point,
      to: point,
      isPoint: true,
      count: known.filter((value) => value === point).length,
    }));
  const [low, high] = [points[0]!, points.at(-1)!];
  const width = high / barsMax - low / barsMax; // of huge numbers the difference may be no number
  const counts = new Array<number>(barsMax).fill(0);
  for (const value of known) {
    const at = Math.min(barsMax - 1, Math.floor((value - low) / width));
    counts[at]!++;
  }
  return counts.map((count, i) => ({ from: low + i * width, to: low + (i + 1) * width, isPoint: false, count }));
}
