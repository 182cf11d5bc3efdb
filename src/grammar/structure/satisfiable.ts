// Which obligations some finite value satisfies: everything reachable from one of them is visited, and what can be completed is
// computed as a least fixpoint. A recogniser must never begin what cannot be completed.
import type { Terms } from '../lexemes/terms.ts';
import { arrayFeasible, objectFeasible } from './feasible.ts';
import type { Obligation, ValueForm } from './shapes.ts';

/** Sets `possible` of everything that is reachable from `start`. */
export function markSatisfiable(start: Obligation, terms: Terms, formOf: (of: Obligation) => ValueForm): void {
  const undecided = reachable(start, formOf);
  for (let changed = true; changed;) {
    changed = false;
    for (const obligation of undecided.reverse()) {
      if (obligation.possible) continue;
      const { scalars, objects, arrays } = obligation.form!;
      terms.spend(1 + objects.reduce((sum, { keys }) => sum + keys.length, 0) / 8);
      const isPossible =
        scalars !== terms.none ||
        objects.some((shape) => objectFeasible(shape)) ||
        arrays.some((shape) => arrayFeasible(shape));
      if (isPossible) changed = obligation.possible = true;
    }
  }
}

/** Those that are not yet known to be possible, and what they consist of. */
function reachable(start: Obligation, formOf: (of: Obligation) => ValueForm): Obligation[] {
  const seen = new Set<Obligation>([start]);
  const undecided: Obligation[] = [];
  for (const obligation of seen) {
    if (obligation.possible) continue;
    undecided.push(obligation);
    const { objects, arrays } = formOf(obligation);
    for (const { keys, classes } of objects) for (const { value } of [...keys, ...classes]) seen.add(value);
    for (const { items } of arrays) for (const choices of items) for (const { value } of choices) seen.add(value);
  }
  return undecided;
}
