// Which sampled turn of a conversation is which run of trained tokens. Training knows sequences, people read turns; both are in order,
// but turns that were not trained have no run, and the last run may have been cut.

/** Tokens of a sequence that were trained one after another: from, up to and without. */
export interface Run {
  readonly sequence: number;
  readonly from: number;
  readonly to: number;
}

/** Of all sequences of a trajectory, in order. */
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

/** By sampled turn its run; null where it was not trained. `tokenCounts`: of each sampled turn, null where nobody knows. */
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
