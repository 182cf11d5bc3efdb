import { expect, test } from 'vitest';
import fc from 'fast-check';
import {
  cacheArray,
  cacheBytesPerToken,
  capacityClasses,
  capacityFor,
  KVCache,
  type CacheShape,
  type CacheSlot,
  type NewKeysAndValues,
} from './kv-cache.ts';

const shape: CacheShape = { layers: 2, kvHeads: 2, headDim: 3 };
const halves: CacheShape = { ...shape, dtype: 'float16' };
const classes = capacityClasses(300);

/** A value that identifies its place. */
const valueOf = (owner: number, layer: number, head: number, dim: number, token: number) =>
  owner * 1e5 + token * 100 + layer * 50 + head * 10 + dim;

/** New keys and values of `seq` tokens for each owner, as a graph call returns them. */
function computed(owners: readonly number[], from: number, seq: number, of = shape): NewKeysAndValues {
  const { layers, kvHeads, headDim } = shape;
  const data: number[] = [];
  for (let layer = 0; layer < layers; layer++)
    for (const sign of [1, -1])
      // keys, then values
      for (const owner of owners)
        for (let head = 0; head < kvHeads; head++)
          for (let i = 0; i < seq; i++)
            for (let dim = 0; dim < headDim; dim++) data.push(sign * valueOf(owner, layer, head, dim, from + i));
  const array = cacheArray(of, data.length);
  array.set(data);
  return { data: array, batch: owners.length, seq };
}

function expectContent(cache: KVCache, slot: CacheSlot, owner: number): void {
  const view = cache.viewSlot(slot);
  const { kvHeads, headDim, layers } = shape;
  const wrong: string[] = [];
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < kvHeads; head++)
      for (let dim = 0; dim < headDim; dim++)
        for (let token = 0; token < slot.length; token++) {
          const value = valueOf(owner, layer, head, dim, token);
          const place = (head * slot.capacity + token) * headDim + dim;
          const [k, v] = [view.k[layer]![place], view.v[layer]![place]];
          if (k !== value || v !== -value)
            wrong.push(`layer ${layer} head ${head} dim ${dim} token ${token}: ${k}, ${v}`);
        }
  expect(wrong).toEqual([]);
  const mask = [...view.mask];
  expect(mask.slice(0, slot.length).every((x) => x === 0)).toBe(true);
  expect(mask.slice(slot.length, slot.capacity).every((x) => x === -1e9)).toBe(true);
  expect(mask[slot.capacity]).toBe(0);
}

test('a slot of 16 bits takes half the memory, and returns the same bits', () => {
  expect([cacheBytesPerToken(shape), cacheBytesPerToken(halves)]).toEqual([2 * 2 * 3 * 2 * 4, 2 * 2 * 3 * 2 * 2]);
  const cache = new KVCache(halves, classes, 10_000);
  const given = computed([1], 0, 40, halves);
  let slot = cache.allocate(64);
  cache.append(slot, given, 0);
  slot = cache.grow(cache.fork(slot), 128); // copied within a class, and into another one
  const { k, v } = cache.viewSlot(slot);
  const run = 40 * 3;
  const kept = [k[0], v[0], k[1], v[1]].flatMap((array) =>
    [0, 1].flatMap((head) => [...array!.subarray(head * 128 * 3, head * 128 * 3 + run)]),
  );
  expect(k[0]).toBeInstanceOf(Uint16Array);
  expect(kept).toEqual([...given.data]);
});

test('classes double from 64 and end with the context', () => {
  expect(classes).toEqual([64, 128, 256, 300]);
  expect(capacityClasses(64)).toEqual([64]);
  expect(capacityClasses(50)).toEqual([50]);
  expect([1, 64, 65, 256, 257, 300].map((n) => capacityFor(classes, n))).toEqual([64, 64, 128, 256, 300, 300]);
});

test('a batch of decoding sequences reads neighbouring slots, and finishing fills the gap', () => {
  const cache = new KVCache(shape, classes, 10_000);
  const slots = [1, 2, 3, 4].map((owner) => {
    const slot = cache.allocate(64);
    cache.append(slot, computed([owner], 0, 5), 0);
    cache.activate(slot);
    return slot;
  });
  cache.release(slots[1]!);
  expect(slots.map((slot) => slot.index)).toEqual([0, 1, 2, 1]);
  expectContent(cache, slots[0]!, 1);
  expectContent(cache, slots[2]!, 3);
  expectContent(cache, slots[3]!, 4);
  expect(cache.viewFirst(64, 3).k[0]!.length).toBe(3 * 2 * 3 * 64);
});

test('the content of a slot is hidden from its next owner, and can be erased', () => {
  const cache = new KVCache(shape, classes, 10_000);
  const first = cache.allocate(64);
  cache.append(first, computed([9], 0, 60), 0);
  cache.release(first, { erase: true });
  const second = cache.allocate(64);
  expect(second.index).toBe(first.index);
  const view = cache.viewSlot(second);
  expect(view.k[1]!.every((x) => x === 0)).toBe(true);
  expect(view.v[0]!.every((x) => x === 0)).toBe(true);
  expect([...view.mask].filter((x) => x === 0)).toHaveLength(1);
});

test('empty slots of other classes are given up when the budget is short', () => {
  const cache = new KVCache(shape, classes, 1024);
  const small = Array.from({ length: 8 }, () => cache.allocate(64));
  small.forEach((slot) => cache.release(slot));
  for (let i = 0; i < 4; i++) cache.allocate(256);
  const allocated = cache.occupancy().reduce((sum, { allocated, capacity }) => sum + allocated * capacity, 0);
  expect(allocated).toBe(1024);
});

type Action = { kind: 'open' | 'close' | 'activate' | 'decode' | 'fork'; pick: number; seq: number };

test('whatever comes and goes, every sequence keeps its own keys and values', () => {
  const action = fc.record<Action>({
    kind: fc.constantFrom('open', 'open', 'close', 'activate', 'decode', 'decode', 'decode', 'fork'),
    pick: fc.nat(1_000),
    seq: fc.integer({ min: 1, max: 90 }),
  });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const budget = 2_000;
      const cache = new KVCache(shape, classes, budget);
      let live: { owner: number; slot: CacheSlot }[] = [];
      const fits = (more: number) => live.reduce((sum, { slot }) => sum + slot.capacity, more) <= budget;
      const extend = (entry: { owner: number; slot: CacheSlot }, seq: number) => {
        const after = Math.min(entry.slot.length + seq, 300);
        const capacity = capacityFor(classes, after);
        if (!fits(capacity - entry.slot.capacity)) return;
        if (capacity > entry.slot.capacity) entry.slot = cache.grow(entry.slot, capacity);
        cache.append(entry.slot, computed([0, entry.owner], entry.slot.length, after - entry.slot.length), 1);
      };
      actions.forEach(({ kind, pick, seq }, i) => {
        const entry = live[pick % Math.max(1, live.length)];
        if (kind === 'open') {
          if (!fits(64)) return;
          const opened = { owner: i + 1, slot: cache.allocate(64) };
          live.push(opened);
          extend(opened, seq);
        } else if (!entry) return;
        else if (kind === 'close') {
          cache.release(entry.slot);
          live = live.filter((other) => other !== entry);
        } else if (kind === 'fork') {
          if (fits(entry.slot.capacity)) live.push({ owner: entry.owner, slot: cache.fork(entry.slot) });
        } else if (kind === 'activate') {
          if (!entry.slot.active) cache.activate(entry.slot);
        } else for (const other of live) if (other.slot.active) extend(other, 1);
        const allocated = cache.occupancy().reduce((sum, each) => sum + each.allocated * each.capacity, 0);
        expect(allocated).toBeLessThanOrEqual(budget + 300); // and the one that moves
        // Requested at every step, as decoding does: an earlier view must not outlive its arrays.
        for (const { capacity, active } of cache.occupancy()) {
          const view = cache.viewFirst(capacity, active);
          const size = shape.kvHeads * shape.headDim * capacity;
          for (const { owner, slot } of live) {
            if (!slot.active || slot.capacity !== capacity || slot.length === 0) continue;
            expect(view.k[0]![slot.index * size]).toBe(Math.fround(valueOf(owner, 0, 0, 0, 0)));
          }
        }
      });
      for (const { owner, slot } of live) expectContent(cache, slot, owner);
      for (const { capacity, used, active } of cache.occupancy()) {
        const slots = live.map(({ slot }) => slot).filter((slot) => slot.capacity === capacity);
        expect(used).toBe(slots.length);
        const activeIndices = slots.filter((slot) => slot.active).map((slot) => slot.index);
        expect(activeIndices.sort((a, b) => a - b)).toEqual(Array.from({ length: active }, (_, i) => i));
        expect(new Set(slots.map((slot) => slot.index)).size).toBe(slots.length);
      }
    }),
    { seed: 4, numRuns: 200 },
  );
});

test('a sequence that has grown leaves nothing behind, and unused memory is released', () => {
  const cache = new KVCache(shape, classes, 4096);
  const stored = () =>
    cache.occupancy().flatMap(({ capacity, allocated }) => (allocated > 0 ? [[capacity, allocated]] : []));
  let slot = cache.allocate(64);
  cache.append(slot, computed([1], 0, 60), 0);
  for (const capacity of [128, 256, 300]) slot = cache.grow(slot, capacity);
  expect(stored()).toEqual([[300, 1]]);
  const others = [2, 3].map((owner) => {
    const other = cache.allocate(300);
    cache.append(other, computed([owner], 0, 5), 0);
    return other;
  });
  cache.release(others[1]!);
  cache.trim();
  expect(stored()).toEqual([[300, 2]]);
  expectContent(cache, slot, 1);
  expectContent(cache, others[0]!, 2);
  for (const each of [slot, others[0]!]) cache.release(each);
  cache.trim();
  expect(stored()).toEqual([]);
});
