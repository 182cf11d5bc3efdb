// Who attends to whom in a packed training row, as the additive mask that attention adds to its scores. Pure; knows
// segments and their parents, nothing of sequences or losses.
import { invariant } from '#base/invariant';

/** exp(x − 1e9) is exactly 0 in float32 for every score that a model can produce, so hidden tokens leave no trace. */
const HIDDEN = -1e9;

export interface RowSegments {
  /** `[row]` segment of each token. */
  readonly segments: Int32Array;
  /** `[segments]` parent segment, −1 for none. */
  readonly parents: Int32Array;
}

/**
 * Writes the mask of one row, `[row, row]`: entry (i, j) is 0 where token i sees token j, which is when j ≤ i and j's
 * segment is i's own or one of its ancestors.
 */
export function writeAttentionMask({ segments, parents }: RowSegments, mask: Float32Array): void {
  const size = segments.length;
  invariant(mask.length === size * size, `mask of ${mask.length} for ${size} tokens`);
  const sees = ancestorTable(parents);
  const count = parents.length;
  mask.fill(HIDDEN);
  for (let i = 0; i < size; i++) {
    const own = segments[i]! * count;
    for (let j = 0; j <= i; j++) if (sees[own + segments[j]!] === 1) mask[i * size + j] = 0;
  }
}

/** `[segments, segments]`: 1 where the second is the first itself or an ancestor of it. */
function ancestorTable(parents: Int32Array): Uint8Array {
  const count = parents.length;
  const table = new Uint8Array(count * count);
  for (let segment = 0; segment < count; segment++) {
    let ancestor = segment;
    for (let depth = 0; ancestor !== -1; depth++) {
      invariant(ancestor >= 0 && ancestor < count && depth < count, `segment ${segment} has no root`);
      table[segment * count + ancestor] = 1;
      ancestor = parents[ancestor]!;
    }
  }
  return table;
}
