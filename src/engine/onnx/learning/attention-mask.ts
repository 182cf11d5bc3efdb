// Which token attends to which in packed training rows, a block of queries at a time: the tokens that any query of the block attends
// to, and the additive mask over them. What no query of a block sees (other examples of the row, other answers to its prompt) is not
// among its keys, so nothing is computed for it. Pure; knows segments and their parents, nothing about sequences or losses.
import { invariant } from '#base/invariant';
import { MASKED } from '../models/attention.ts';

export interface RowSegments {
  /** `[row]` segment of each token. */
  readonly segments: Int32Array;
  /** `[segments]` parent segment, −1 for none. */
  readonly parents: Int32Array;
}

export interface AttentionBlocks {
  /** Block after block, the tokens that its queries attend to in any of the rows, in order. */
  readonly keys: BigInt64Array;
  /** Block after block `[rows, queries, keys]`, to be added to scores: 0 or MASKED. */
  readonly mask: Float32Array;
  /** `[blocks + 1]` each: where a block begins among the keys and in the mask. */
  readonly keyStarts: BigInt64Array;
  readonly maskStarts: BigInt64Array;
}

/**
 * Token i sees token j if j ≤ i and j's segment is i's own or one of its ancestors. Rows are padded to `size` tokens: padding sees only
 * itself, because a softmax over nothing would be NaN. `block`: queries of a block; the last has what remains.
 */
export function attentionBlocks(rows: readonly RowSegments[], size: number, block: number): AttentionBlocks {
  const views = rows.map((row) => viewOf(row, size));
  const count = Math.ceil(size / block);
  const [keyStarts, maskStarts] = [new BigInt64Array(count + 1), new BigInt64Array(count + 1)];
  const keysOf: Int32Array[] = [];
  for (let b = 0; b < count; b++) {
    const [start, end] = [b * block, Math.min((b + 1) * block, size)];
    const seen = new Uint8Array(end).fill(1, start);
    for (const view of views) view.markSeen(start, end, seen);
    const keys = Int32Array.from(seen.keys()).filter((j) => seen[j] === 1);
    keysOf.push(keys);
    keyStarts[b + 1] = keyStarts[b]! + BigInt(keys.length);
    maskStarts[b + 1] = maskStarts[b]! + BigInt(rows.length * (end - start) * keys.length);
  }
  const mask = new Float32Array(Number(maskStarts[count])).fill(MASKED);
  let at = 0;
  keysOf.forEach((keys, b) => {
    for (const view of views)
      for (let i = b * block; i < Math.min((b + 1) * block, size); i++, at += keys.length)
        for (let c = 0; c < keys.length; c++) if (view.sees(i, keys[c]!)) mask[at + c] = 0;
  });
  const keys = BigInt64Array.from(
    keysOf.flatMap((keys) => [...keys]),
    BigInt,
  );
  return { keys, mask, keyStarts, maskStarts };
}

interface RowView {
  sees(i: number, j: number): boolean;
  /** Marks the tokens before `start` that queries start … end − 1 see. */
  markSeen(start: number, end: number, seen: Uint8Array): void;
}

function viewOf({ segments, parents }: RowSegments, size: number): RowView {
  const [length, count] = [segments.length, parents.length];
  invariant(size >= length, `${length} tokens in a row of ${size}`);
  const ancestors = ancestorTable(parents);
  return {
    sees: (i, j) => (i < length ? j <= i && ancestors[segments[i]! * count + segments[j]!] === 1 : j === i),
    markSeen(start, end, seen) {
      const visible = new Uint8Array(count);
      for (const segment of new Set(segments.subarray(start, end)))
        for (let other = 0; other < count; other++) visible[other]! |= ancestors[segment * count + other]!;
      for (let j = 0; j < Math.min(start, length); j++) seen[j]! |= visible[segments[j]!]!;
    },
  };
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
