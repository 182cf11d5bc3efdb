// What adapters add to a linear, y + x · A · B, for a batch whose sequences have different ones or none. Sequences are gathered by the
// group of their adapter, [groups, slots], and each is multiplied by its group's matrices only. serving/adapter-groups.ts decides
// which adapters are in a group, and where.
//
// Inputs; P = 1, 2, 3 is how many projections a linear fuses, F = qkv, o, gate_up, down
//   adapted       bool [], any sequence by an adapter: else none of this is computed
//   head_adapted  bool [], any by one that adapts the head too: else the head's part of it is not
//   grouped       bool [], more than one group: else sequences lie in its slots as in the batch, and none is moved
//   lora_rows     int64 [groups, slots], the sequence of the batch that is multiplied there
//   lora_mask.P   bool [groups, slots, 1, columns.P], the columns of its adapter
//   lora_places   int64 [batch, 4], where a sequence's sum lies: 0, 0, group, slot. One without adapter reads a slot without columns
//   lora.L.F.a    [1, groups, 1, in, columns.P]
//   lora.L.F.b    [1, 1, groups, 1, columns.P, Σ out], scaled by alpha / rank; zero outside the block of a column's projection
//   lora.head.a, lora.head.b    the same of the head, a single projection; nothing where no adapter of the set is on it
//
// What follows a linear is in both branches of the choice: an output of a branch that only passes y on would be a copy of it.
//
// Each sequence is a product of its own: for weights that are not constant, ONNX Runtime's matmul sums in another order when the
// number of rows changes, and a sequence's logits must not depend on what else is in the batch (docs/decisions/0001, 0047). The leading
// sizes of 1 stop ONNX Runtime from making one large product of a single group.
import type { FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { branch } from '../graph/branch.ts';
import type { Dim, Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import type { Next } from './decoder.ts';

export interface GroupedAdapters {
  /** x `[batch, seq, in]`, y `[batch, seq, Σ out]` → what `next` makes of y plus the adapters' part. */
  linear(layer: number, linear: FusedLinear, x: Value, y: Value, next: Next): Value;
  /** x `[rows, hidden]`, y `[rows, vocab]` → y plus the adapters' part: row by row, so that a row's bits do not depend on the number of rows. */
  head(x: Value, y: Value): Value;
}

export function groupedAdapters(g: Graph, { linears, hidden, vocab }: DecoderConfig): GroupedAdapters {
  const adapted = g.input('adapted', 'bool', []);
  const headAdapted = g.input('head_adapted', 'bool', []);
  const rows = g.input('lora_rows', 'int64', ['groups', 'slots']);
  const places = g.input('lora_places', 'int64', ['batch', 4]);
  const masks = [1, 2, 3].map((p) => g.input(`lora_mask.${p}`, 'bool', ['groups', 'slots', 1, `columns.${p}`]));
  const grouped = g.input('grouped', 'bool', []);
  const zero = g.scalar(0);

  const matrices = (name: string, inFeatures: number, outFeatures: number, groups: Dim, columns: Dim): Matrices => ({
    a: g.input(`${name}.a`, 'float32', [1, groups, 1, inFeatures, columns]),
    b: g.input(`${name}.b`, 'float32', [1, 1, groups, 1, columns, outFeatures]),
  });

  /** x `[sequences, seq, in]`, y `[sequences, seq, out]` */
  const add = (
    name: string,
    condition: Value,
    { a, b }: Matrices,
    mask: Value,
    x: Value,
    y: Value,
    next: Next,
  ): Value => {
    /** own `[groups, slots, seq, in]` → `[1, 1, groups, slots, seq, out]` */
    const multiply = (g: Graph, own: Value, a: Value, mask: Value, b: Value): Value =>
      // A select and not a factor of 0: columns of another adapter may produce NaN for this sequence.
      ops.matmul(g, ops.where(g, mask, ops.matmul(g, own, a), zero), b);
    const own = { ...places, shape: [x.shape[0]!, 4] };
    const several = (g: Graph) => [ops.gatherPlaces(g, multiply(g, ops.gather(g, x, rows), a, mask, b), own)];
    const one = (g: Graph) => {
      const [ownA, ownMask, ownB] = [sized(a, 1), sized(mask, 1, x.shape[0]), sized(b, 1)];
      return [ops.dropLeadingOnes(g, multiply(g, x, ownA, ownMask, ownB), 3)];
    };
    const withDelta = (inner: Graph) => {
      const [delta] = branch(inner, { name: `${name}.grouped`, condition: grouped }, several, one);
      return [next(inner, ops.add(inner, y, delta!))];
    };
    return branch(g, { name: `${name}.adapted`, condition }, withDelta, (inner) => [next(inner, y)])[0]!;
  };

  return {
    linear(layer, linear, x, y, next) {
      const parts = linears[linear];
      const outFeatures = parts.reduce((sum, part) => sum + part.outFeatures, 0);
      const name = `lora.${layer}.${linear}`;
      const own = matrices(name, parts[0]!.inFeatures, outFeatures, 'groups', `columns.${parts.length}`);
      return add(name, adapted, own, masks[parts.length - 1]!, x, y, next);
    },
    head(x, y) {
      // Names of their own for the sizes: if no adapter is on the head, these sizes are smaller than the set's.
      const { a, b } = matrices('lora.head', hidden, vocab, 'head_groups', 'head_columns');
      const own = { a: sized(a, 'groups'), b: sized(b, 'groups') };
      const bySequence = (x: Value) => ops.reshape(g, x, ['rows', 1, x.shape[1]!]);
      const sum = add('lora.head', headAdapted, own, masks[0]!, bySequence(x), bySequence(y), (_, sum) => sum);
      return ops.reshape(g, sum, ['rows', vocab]);
    },
  };
}

interface Matrices {
  readonly a: Value;
  readonly b: Value;
}

/** The same value with the sizes known here. */
const sized = (x: Value, groups: Dim, slots: Dim = 'slots'): Value => ({
  ...x,
  shape: x.shape.map((size) =>
    size === 'groups' || size === 'head_groups'
      ? groups
      : size === 'head_columns'
        ? 'columns.1'
        : size === 'slots'
          ? slots
          : size,
  ),
});
