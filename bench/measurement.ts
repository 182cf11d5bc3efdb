// One line of a benchmark: what was measured, and how fast each contestant was.

export interface Measurement {
  readonly what: string;
  readonly unit: string;
  /** Median per contestant, ours first; larger is better. */
  readonly tokensPerSecond: Record<string, number>;
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export const median = (xs: readonly number[]): number => [...xs].sort((a, b) => a - b)[Math.floor(xs.length / 2)]!;

/** Contestants alternate, so that a machine that slows down affects all of them equally. The first round warms up. */
export async function alternate<C extends { readonly name: string }>(
  contestants: readonly C[],
  rounds: number,
  measure: (contestant: C) => Promise<number>,
): Promise<Record<string, number>> {
  const samples: Record<string, number[]> = Object.fromEntries(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds + 1; round++) {
    for (const contestant of contestants) {
      const value = await measure(contestant);
      if (round > 0) samples[contestant.name]!.push(value);
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([name, xs]) => [name, median(xs)]));
}

export function report({ what, unit, tokensPerSecond }: Measurement): void {
  const [[, ours], ...peers] = Object.entries(tokensPerSecond) as [[string, number], ...[string, number][]];
  const ratios = peers.map(([name, theirs]) => `${(ours / theirs).toFixed(2)}x ${name} (${theirs.toFixed(1)})`);
  say(`${what.padEnd(32)} ${ours.toFixed(1).padStart(9)} ${unit}   ${ratios.join(', ')}`);
}
