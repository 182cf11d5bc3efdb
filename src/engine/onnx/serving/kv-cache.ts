// The keys and values of all live sequences, in arrays that the graph reads in place. A sequence has a slot of the capacity
// class that its own length needs, whatever else is in the batch: so the shapes of its computation, and therefore its bits,
// do not depend on load. Decides where slots are; the scheduler keeps to the budget (CacheBudget).
//
// One pool per class and layer: k and v `[slots, kvHeads, capacity, headDim]`, and a decode mask `[slots, capacity + 1]`.
// The slots that decode are 0 … activeCount − 1, so that a batch is one subarray. Pools grow and shrink in place: if a pool were
// copied into a larger one, the old copy would use memory until the next garbage collection.
import { invariant } from '#base/invariant';
import type { KVCacheDtype } from '../../capabilities.ts';
import { BYTES_PER_ELEMENT } from '../graph/graph.ts';
import { MASKED } from '../models/attention.ts';

export interface CacheShape {
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Default: float32. */
  readonly dtype?: KVCacheDtype;
}

/** Float32, or the bits of float16. */
export type CacheArray = Float32Array | Uint16Array;

/** The place of a sequence's keys and values. Only KVCache changes it. */
export interface CacheSlot {
  readonly capacity: number;
  /** Number of tokens stored. */
  readonly length: number;
  /** Index in its pool; changes when other sequences leave. */
  readonly index: number;
  /** Whether decode steps read the slot. */
  readonly active: boolean;
}

/** What the graph reads: `count` adjacent slots of one class. A view identifies its arrays: if they change, there is a new view. */
export interface CacheView {
  readonly capacity: number;
  readonly count: number;
  /** By layer, `[count, kvHeads, capacity, headDim]`. */
  readonly k: readonly CacheArray[];
  readonly v: readonly CacheArray[];
  /** Additive, `[count, capacity + 1]`: 0 for stored tokens and for the new one after them. */
  readonly mask: Float32Array;
}

/** The keys and values that a graph call computed for its new tokens. */
export interface NewKeysAndValues {
  /** `[layers, 2, batch, kvHeads, seq, headDim]`, keys before values. */
  readonly data: CacheArray;
  readonly batch: number;
  readonly seq: number;
}

const SMALLEST_CAPACITY = 64;

/** 64, 128, 256, … and the context length itself. */
export function capacityClasses(contextLength: number): readonly number[] {
  const classes: number[] = [];
  for (let capacity = SMALLEST_CAPACITY; capacity < contextLength; capacity *= 2) classes.push(capacity);
  return [...classes, contextLength];
}

export function capacityFor(classes: readonly number[], tokenCount: number): number {
  const capacity = classes.find((size) => size >= tokenCount);
  invariant(capacity !== undefined, `${tokenCount} tokens exceed the context of ${classes.at(-1)}`);
  return capacity;
}

export const cacheBytesPerToken = ({ layers, kvHeads, headDim, dtype = 'float32' }: CacheShape): number =>
  layers * kvHeads * headDim * 2 * BYTES_PER_ELEMENT[dtype];

export const cacheArray = ({ dtype }: CacheShape, length: number): CacheArray =>
  dtype === 'float16' ? new Uint16Array(length) : new Float32Array(length);

/** An array whose length follows its resizable buffer. */
type Resizable<T extends CacheArray> = T & { readonly buffer: ArrayBuffer };

/** An empty array. Reserves addresses for `lengthMax` elements; memory is used only when elements are written. */
const resizableArray = ({ dtype }: CacheShape, lengthMax: number): Resizable<CacheArray> => {
  const ofType = dtype === 'float16' ? Uint16Array : Float32Array;
  return new ofType(new ArrayBuffer(0, { maxByteLength: lengthMax * ofType.BYTES_PER_ELEMENT }));
};

interface Slot {
  capacity: number;
  length: number;
  index: number;
  active: boolean;
}

interface Pool {
  readonly capacity: number;
  readonly k: readonly Resizable<CacheArray>[];
  readonly v: readonly Resizable<CacheArray>[];
  readonly mask: Resizable<Float32Array>;
  /** One entry per allocated slot. */
  occupants: (Slot | null)[];
  activeCount: number;
  /** The last requested view: decode requests the same one hundreds of times. */
  lastView: { readonly first: number; readonly view: CacheView } | null;
}

export class KVCache {
  readonly #shape: CacheShape;
  readonly #budgetTokens: number;
  readonly #pools: Map<number, Pool>;

  /** Callers keep the slots in use within the budget. While a slot moves, allocation may exceed the budget by that slot. */
  constructor(shape: CacheShape, classes: readonly number[], budgetTokens: number) {
    this.#shape = shape;
    this.#budgetTokens = budgetTokens;
    this.#pools = new Map(classes.map((capacity) => [capacity, createPool(capacity, shape, budgetTokens)]));
  }

  /** Returns an empty slot that does not take part in decode steps yet. */
  allocate(capacity: number): CacheSlot {
    const pool = this.#pool(capacity);
    let index = pool.occupants.indexOf(null, pool.activeCount);
    if (index < 0) {
      index = pool.occupants.length;
      this.#makeRoom(pool, index + 1);
    }
    const slot: Slot = { capacity, length: 0, index, active: false };
    pool.occupants[index] = slot;
    writeMask(pool, slot);
    return slot;
  }

  /** Includes the slot in decode steps from now on. */
  activate(given: CacheSlot): void {
    const slot = owned(given);
    const pool = this.#pool(slot.capacity);
    invariant(!slot.active, 'slot is active already');
    const target = pool.activeCount;
    const inTheWay = pool.occupants[target];
    if (inTheWay && inTheWay !== slot) {
      let free = pool.occupants.indexOf(null, target);
      if (free < 0) {
        free = pool.occupants.length;
        this.#makeRoom(pool, free + 1);
      }
      this.#move(pool, inTheWay, free);
    }
    if (slot.index !== target) this.#move(pool, slot, target);
    slot.active = true;
    pool.activeCount++;
  }

  /** Moves the sequence to a larger class, which happens once per doubling; an active slot stays active. */
  grow(given: CacheSlot, capacity: number): CacheSlot {
    const slot = owned(given);
    invariant(capacity > slot.capacity, `cannot grow from ${slot.capacity} to ${capacity}`);
    const grown = this.fork(slot, capacity);
    if (slot.active) this.activate(grown);
    this.release(slot);
    const left = this.#pool(slot.capacity);
    if (usedSlots(left) === 0) this.#resize(left, 0); // otherwise a long sequence would leave as much memory unused as it takes
    return grown;
  }

  /** Returns a copy that does not take part in decode steps yet. */
  fork(from: CacheSlot, capacity = from.capacity): CacheSlot {
    const copy = owned(this.allocate(capacity));
    copyTokens(this.#shape, this.#pool(from.capacity), from, this.#pool(capacity), copy.index);
    copy.length = from.length;
    writeMask(this.#pool(capacity), copy);
    return copy;
  }

  /** Stores row `batchRow` of a graph call's new keys and values after the slot's tokens. */
  append(given: CacheSlot, { data, batch, seq }: NewKeysAndValues, batchRow: number): void {
    const slot = owned(given);
    const { kvHeads, headDim } = this.#shape;
    const { capacity } = slot;
    invariant(slot.length + seq <= capacity, `${slot.length} + ${seq} tokens do not fit ${capacity}`);
    const pool = this.#pool(capacity);
    const run = seq * headDim;
    let from = batchRow * kvHeads * run;
    const store = (stored: CacheArray): void => {
      let to = (slot.index * kvHeads * capacity + slot.length) * headDim;
      for (let head = 0; head < kvHeads; head++, to += capacity * headDim)
        stored.set(data.subarray(from + head * run, from + (head + 1) * run), to);
      from += batch * kvHeads * run;
    };
    pool.k.forEach((keys, layer) => {
      store(keys);
      store(pool.v[layer]!);
    });
    slot.length += seq;
    writeMask(pool, slot);
  }

  /** Set `erase` if the slot may hold NaN or infinity: a mask does not hide those from the slot's next sequence. */
  release(given: CacheSlot, { erase = false } = {}): void {
    const slot = owned(given);
    const pool = this.#pool(slot.capacity);
    invariant(pool.occupants[slot.index] === slot, 'slot was released before');
    if (erase) this.#erase(pool, slot.index);
    pool.occupants[slot.index] = null;
    if (!slot.active) return;
    slot.active = false;
    pool.activeCount--;
    const last = pool.occupants[pool.activeCount];
    if (last) this.#move(pool, last, slot.index);
  }

  /** Frees the memory of unused slots. */
  trim(): void {
    for (const pool of this.#pools.values()) this.#resize(pool, usedSlots(pool));
  }

  /** A view of one slot, for prefill. */
  viewSlot(slot: CacheSlot): CacheView {
    return this.#view(slot.capacity, slot.index, 1);
  }

  /** A view of the first `count` slots of a class, for decode. */
  viewFirst(capacity: number, count: number): CacheView {
    return this.#view(capacity, 0, count);
  }

  /** Slots in use by class, for status and tests. */
  occupancy(): { capacity: number; used: number; active: number; allocated: number }[] {
    return [...this.#pools.values()].map((pool) => ({
      capacity: pool.capacity,
      used: pool.occupants.filter((slot) => slot !== null).length,
      active: pool.activeCount,
      allocated: pool.occupants.length,
    }));
  }

  #view(capacity: number, first: number, count: number): CacheView {
    const pool = this.#pool(capacity);
    invariant(first + count <= pool.occupants.length, `class ${capacity} has no slot ${first + count - 1}`);
    if (pool.lastView?.first === first && pool.lastView.view.count === count) return pool.lastView.view;
    const size = slotSize(this.#shape, capacity);
    const part = (array: CacheArray) => array.subarray(first * size, (first + count) * size);
    const mask = pool.mask.subarray(first * (capacity + 1), (first + count) * (capacity + 1));
    const view = { capacity, count, k: pool.k.map(part), v: pool.v.map(part), mask };
    pool.lastView = { first, view };
    return view;
  }

  #pool(capacity: number): Pool {
    const pool = this.#pools.get(capacity);
    invariant(pool, `no class of capacity ${capacity}`);
    return pool;
  }

  /** Moves the slot to an empty place of the same pool. */
  #move(pool: Pool, slot: Slot, index: number): void {
    if (slot.index === index) return;
    copyTokens(this.#shape, pool, slot, pool, index);
    pool.occupants[slot.index] = null;
    pool.occupants[index] = slot;
    slot.index = index;
    writeMask(pool, slot);
  }

  #erase(pool: Pool, index: number): void {
    const size = slotSize(this.#shape, pool.capacity);
    for (const array of [...pool.k, ...pool.v]) array.fill(0, index * size, (index + 1) * size);
  }

  /** Frees empty slots of other classes if the budget is short. */
  #makeRoom(pool: Pool, slots: number): void {
    const others = [...this.#pools.values()].filter((other) => other !== pool);
    const allocated = others.reduce((sum, { occupants, capacity }) => sum + occupants.length * capacity, 0);
    if (allocated + slots * pool.capacity > this.#budgetTokens)
      for (const other of others) this.#resize(other, usedSlots(other));
    this.#resize(pool, slots);
  }

  #resize(pool: Pool, slots: number): void {
    if (slots === pool.occupants.length) return;
    const size = slotSize(this.#shape, pool.capacity);
    for (const { buffer, BYTES_PER_ELEMENT } of [...pool.k, ...pool.v]) buffer.resize(slots * size * BYTES_PER_ELEMENT);
    pool.mask.buffer.resize(slots * (pool.capacity + 1) * pool.mask.BYTES_PER_ELEMENT);
    pool.lastView = null;
    pool.occupants = Array.from({ length: slots }, (_, i) => pool.occupants[i] ?? null);
  }
}

const slotSize = ({ kvHeads, headDim }: CacheShape, capacity: number): number => kvHeads * headDim * capacity;

function createPool(capacity: number, shape: CacheShape, budgetTokens: number): Pool {
  const slotsMax = Math.floor(budgetTokens / capacity) + 1; // one more while a slot moves
  const empty = () =>
    Array.from({ length: shape.layers }, () => resizableArray(shape, slotsMax * slotSize(shape, capacity)));
  const mask = resizableArray({ ...shape, dtype: 'float32' }, slotsMax * (capacity + 1)) as Resizable<Float32Array>;
  return { capacity, k: empty(), v: empty(), mask, occupants: [], activeCount: 0, lastView: null };
}

/** The number of slots up to the last one in use. */
const usedSlots = (pool: Pool): number => pool.occupants.findLastIndex((slot) => slot !== null) + 1;

/** The public type is read-only; internally it is the same object. */
const owned = (slot: CacheSlot): Slot => slot;

function writeMask(pool: Pool, slot: Slot): void {
  const start = slot.index * (pool.capacity + 1);
  pool.mask.fill(0, start, start + slot.length);
  pool.mask.fill(MASKED, start + slot.length, start + pool.capacity);
  pool.mask[start + pool.capacity] = 0;
}

/** Copies a run of `length · headDim` values per layer, head, and keys or values. */
function copyTokens(
  { kvHeads, headDim }: CacheShape,
  from: Pool,
  source: CacheSlot,
  to: Pool,
  targetIndex: number,
): void {
  const run = source.length * headDim;
  const copy = (read: CacheArray, write: CacheArray): void => {
    for (let head = 0; head < kvHeads; head++) {
      const start = (source.index * kvHeads + head) * from.capacity * headDim;
      write.set(read.subarray(start, start + run), (targetIndex * kvHeads + head) * to.capacity * headDim);
    }
  };
  from.k.forEach((keys, layer) => {
    copy(keys, to.k[layer]!);
    copy(from.v[layer]!, to.v[layer]!);
  });
}
