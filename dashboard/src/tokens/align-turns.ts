// Finds which run of trained tokens belongs to which sampled turn of a conversation. Training works on sequences, people read turns;
// both are in order, but turns that were not trained have no run, and the last run may have been truncated.

/** Consecutive trained tokens of a sequence: from `from` up to, excluding, `to`. */
export interface Run {
  readonly sequence: number;
  readonly from: number;
  readonly to: number;
}

/** Runs of all sequences of a trajectory, in order. */
export function trainedRuns(sequences: readonly { readonly trained: readonly boolean[] }[]): Run[] {
  return sequences.flatMap(({ trained }, sequence) => {
    const runs: Run[] = [];
    for (let from = 0; from < trained.length; from++) {
      if (!trained[from]) continue;
      let to = from;
      while (trained[to]) to++;
      runs.push({ sequence, from, to });
      from = to;
    }
    return runs;
  });
}

/** The run of each sampled turn; null if it was not trained. `tokenCounts`: one per sampled turn, null if unknown. */
export function alignTurns(tokenCounts: readonly (number | null)[], runs: readonly Run[]): (Run | null)[] {
  let next = 0;
  return tokenCounts.map((count) => {
    const run = runs[next];
    if (!run || count === 0) return null;
    const length = run.to - run.from;
    const isCut = next === runs.length - 1 && count !== null && length < count;
    if (count !== null && length !== count && !isCut) return null;
    next++;
    return run;
  });
}
