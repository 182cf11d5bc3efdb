// Which token attends to which in a packed training row, as the additive mask that attention adds to its scores. Pure; knows
// segments and their parents, nothing about sequences or losses.
import { invariant } from '#base/invariant';
import { MASKED } from '../models/attention.ts';

export interface RowSegments {
  /** `[row]` segment of each token. */
  readonly segments: Int32Array;
  /** `[segments]` parent segment, −1 for none. */
  readonly parents: Int32Array;
}

/**
 * Writes the mask of one row, `[size, size]` with size ≥ row: entry (i, j) is 0 if token i sees token j, which is when
 * j ≤ i and j's segment is i's own or one of its ancestors. Padding after the row sees only itself, because a softmax over
 * nothing would be NaN.
 */
export function writeAttentionMask(row: RowSegments, mask: Float32Array, size = row.segments.length): void {
  const { segments, parents } = row;
  invariant(mask.length === size * size && size >= segments.length, `mask of ${mask.length} for ${size} tokens`);
  const sees = ancestorTable(parents);
  const count = parents.length;
  mask.fill(MASKED);
  for (let i = segments.length; i < size; i++) mask[i * size + i] = 0;
  for (let i = 0; i < segments.length; i++) {
    const own = segments[i]! * count;
    for (let j = 0; j <= i; j++) if (sees[own + segments[j]!] === 1) mask[i * size + j] = 0;
  }
}

/** `[segments, segments]`: 1 if the second is the first itself or one of its ancestors. */
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
