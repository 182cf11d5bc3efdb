// Which rows go to a session in one call: as many as it computes side by side, in the order of the plan. They are not sorted by
// length: most rows are filled up to the same length, and gradients add up in the order of the rows.
import type { TrainingSession } from '#engine/training-engine';

/** `rows`: those between two optimizer steps, or those whose log-probabilities are asked for. Groups are not empty. */
export async function* sideBySide<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  { rowsAtOnce }: Pick<TrainingSession, 'rowsAtOnce'>,
): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const row of rows) {
    group.push(row);
    if (group.length < rowsAtOnce) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
