// Where the adapters of a set are placed, and where the sequences of a batch are multiplied by them (models/grouped-adapters.ts). An
// adapter of the largest rank has a group of its own; smaller ones share groups as far as they fit, so that a set takes less than
// twice the memory of its adapters whatever their ranks are. Knows ranks and ids, no weights.
//
// An adapter's result must not depend on its neighbours, to the bit. Zeros elsewhere in a sum change nothing, but a sum that
// starts at another place of the kernels' unrolled loops does: adapters start at multiples of ALIGNMENT.
import type { Feed } from '../graph/session.ts';

const ALIGNMENT = 8;
/** How many projections a fused linear may have: qkv 3, gate_up 2, o and down 1. */
const PROJECTION_COUNTS = [1, 2, 3] as const;

export interface GroupLayout {
  /** At least 1. */
  readonly groups: number;
  /** Columns of a group for one projection; 0 without adapters. */
  readonly width: number;
  /** By adapter, in the order given; `start` is the first of its columns for one projection: for three, 3 · start. */
  readonly places: readonly { readonly group: number; readonly start: number }[];
}

/** Columns of all groups for one projection: what memory and a sequence's time are proportional to. */
export const sizeOfLayout = ({ groups, width }: GroupLayout): number => groups * width;

/** Columns of a group for a linear that fuses this many projections. At least 1: a column of zeros if there is no adapter. */
export const columnsOf = ({ width }: GroupLayout, projectionCount: number): number =>
  Math.max(1, projectionCount * width);

/** Places the largest first, each in the first group that has room. */
export function layOutGroups(ranks: readonly number[]): GroupLayout {
  const sizes = ranks.map((rank) => Math.ceil(rank / ALIGNMENT) * ALIGNMENT);
  const width = Math.max(0, ...sizes);
  const ends: number[] = [];
  const places = sizes.map(() => ({ group: 0, start: 0 }));
  const largestFirst = [...sizes.keys()].sort((a, b) => sizes[b]! - sizes[a]!);
  for (const i of largestFirst) {
    const found = ends.findIndex((end) => end + sizes[i]! <= width);
    const group = found < 0 ? ends.push(0) - 1 : found;
    places[i] = { group, start: ends[group]! };
    ends[group]! += sizes[i]!;
  }
  return { groups: Math.max(1, ends.length), width, places };
}

/** The ids and sizes of a set's adapters, in the order of its layout. */
export interface Ranked {
  readonly id: string;
  readonly rank: number;
  /** It also adapts the output head. */
  readonly onHead: boolean;
}

/** All inputs except the weights, for sequences that use these adapters (null: none). */
export function slotFeeds(
  layout: GroupLayout,
  adapters: readonly Ranked[],
  adapterIds: readonly (string | null)[],
): Record<string, Feed> {
  const { groups, places } = layout;
  const indexOf = new Map(adapters.map(({ id }, i) => [id, i]));
  const taken = new Array<number>(groups).fill(0);
  const seats = adapterIds.map((id) => {
    const adapter = id === null ? null : indexOf.get(id)!;
    if (adapter === null && groups > 1) return null;
    const group = adapter === null ? 0 : places[adapter]!.group;
    return { adapter, group, slot: taken[group]!++ };
  });
  // With several groups, sequences without adapter read the last slot of a group that leaves it free: its columns are masked, so they add
  // zeros. With one group, each sequence has the slot of its own place in the batch.
  const fullest = Math.max(...taken);
  const isFull = taken.every((count) => count === fullest);
  const slots = fullest + (isFull && seats.includes(null) ? 1 : 0);
  const nobody = { adapter: null, group: taken.findIndex((count) => count < slots), slot: slots - 1 };

  const rows = new BigInt64Array(groups * slots);
  const masks = PROJECTION_COUNTS.map((count) => {
    const columns = columnsOf(layout, count);
    return { count, columns, data: new Uint8Array(groups * slots * columns) };
  });
  const read = new BigInt64Array(4 * adapterIds.length);
  seats.forEach((seat, sequence) => {
    const { adapter, group, slot } = seat ?? nobody;
    read.set([0n, 0n, BigInt(group), BigInt(slot)], 4 * sequence);
    const cell = group * slots + slot;
    if (seat) rows[cell] = BigInt(sequence);
    if (adapter === null) return;
    const { start } = places[adapter]!;
    const { rank } = adapters[adapter]!;
    for (const { count, columns, data } of masks) {
      const first = cell * columns + count * start;
      data.fill(1, first, first + count * rank);
    }
  });
  return {
    adapted: { data: Uint8Array.of(seats.some((seat) => seat?.adapter != null) ? 1 : 0), dims: [] },
    head_adapted: {
      data: Uint8Array.of(seats.some((seat) => seat?.adapter != null && adapters[seat.adapter]!.onHead) ? 1 : 0),
      dims: [],
    },
    grouped: { data: Uint8Array.of(groups > 1 ? 1 : 0), dims: [] },
    lora_rows: { data: rows, dims: [groups, slots] },
    lora_places: { data: read, dims: [adapterIds.length, 4] },
    ...Object.fromEntries(
      masks.map(({ count, columns, data }) => [`lora_mask.${count}`, { data, dims: [groups, slots, 1, columns] }]),
    ),
  };
}
