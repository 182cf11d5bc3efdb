// What adapters add to a linear, y + x · A · B, for a batch whose sequences have different ones or none. Sequences are gathered by the
// group that their adapter is in, [groups, slots], and each is multiplied by its group's matrices and no others. Which adapters are
// in a group, and where, is for serving/adapter-groups.ts to say.
//
// Inputs; P = 1, 2, 3 is how many projections a linear fuses, F = qkv, o, gate_up, down
//   adapted       bool [], any sequence by an adapter: else none of this is computed
//   grouped       bool [], more than one group: else sequences lie in its slots as in the batch, and none is moved
//   lora_rows     int64 [groups, slots], the sequence of the batch that is multiplied there
//   lora_mask.P   bool [groups, slots, 1, columns.P], the columns of its adapter
//   lora_places   int64 [batch, 4], where a sequence's sum lies: 0, 0, group, slot. One without adapter reads a slot without columns
//   lora.L.F.a    [1, groups, 1, in, columns.P]
//   lora.L.F.b    [1, 1, groups, 1, columns.P, Σ out], scaled by alpha / rank; zero outside the block of a column's projection
//
// Each sequence is a product of its own: for weights that are not constant, ONNX Runtime's matmul sums in another order when the
// number of rows changes, and a sequence's logits must not depend on what else is in the batch (docs/decisions/0001, 0047). The leading
// sizes of 1 stop it from making one large product of a single group.
import type { FusedLinear } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { branch } from '../graph/branch.ts';
import type { Dim, Graph, Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';

/** x `[batch, seq, in]`, y `[batch, seq, Σ out]` → y with what the adapters add. */
type AddDelta = (layer: number, linear: FusedLinear, x: Value, y: Value) => Value;

export function groupedAdapters(g: Graph, { linears }: DecoderConfig): AddDelta {
  const adapted = g.input('adapted', 'bool', []);
  const rows = g.input('lora_rows', 'int64', ['groups', 'slots']);
  const places = g.input('lora_places', 'int64', ['batch', 4]);
  const masks = [1, 2, 3].map((p) => g.input(`lora_mask.${p}`, 'bool', ['groups', 'slots', 1, `columns.${p}`]));
  const grouped = g.input('grouped', 'bool', []);
  const zero = g.scalar(0);
  return (layer, linear, x, y) => {
    const parts = linears[linear];
    const columns = `columns.${parts.length}`;
    const outFeatures = parts.reduce((sum, part) => sum + part.outFeatures, 0);
    const name = `lora.${layer}.${linear}`;
    const a = g.input(`${name}.a`, 'float32', [1, 'groups', 1, parts[0]!.inFeatures, columns]);
    const b = g.input(`${name}.b`, 'float32', [1, 1, 'groups', 1, columns, outFeatures]);
    const mask = masks[parts.length - 1]!;
    /** own `[groups, slots, seq, in]` → `[1, 1, groups, slots, seq, Σ out]` */
    const multiply = (g: Graph, own: Value, a: Value, mask: Value, b: Value): Value =>
      // Where and not a factor of 0: what a stranger's columns make of a sequence may be no number.
      ops.matmul(g, ops.where(g, mask, ops.matmul(g, own, a), zero), b);
    const several = (g: Graph) => [ops.gatherPlaces(g, multiply(g, ops.gather(g, x, rows), a, mask, b), places)];
    const one = (g: Graph) => {
      const [ownA, ownMask, ownB] = [sized(a, 1), sized(mask, 1, 'batch'), sized(b, 1)];
      return [ops.dropLeadingOnes(g, multiply(g, x, ownA, ownMask, ownB), 3)];
    };
    const withDelta = (inner: Graph) => {
      const [delta] = branch(inner, { name: `${name}.grouped`, condition: grouped }, several, one);
      return [ops.add(inner, y, delta!)];
    };
    return branch(g, { name: `${name}.adapted`, condition: adapted }, withDelta, () => [y])[0]!;
  };
}

/** The same value, by what is known of its sizes here. */
const sized = (x: Value, groups: Dim, slots: Dim = 'slots'): Value => ({
  ...x,
  shape: x.shape.map((size) => (size === 'groups' ? groups : size === 'slots' ? slots : size)),
});
