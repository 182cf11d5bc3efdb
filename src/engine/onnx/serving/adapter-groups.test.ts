import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { layOutGroups, sizeOfLayout, slotFeeds } from './adapter-groups.ts';

const roundUp = (rank: number) => Math.ceil(rank / 8) * 8;

test('adapters of one rank have a group each', () => {
  expect(layOutGroups([8, 8, 8])).toEqual({
    groups: 3,
    width: 8,
    places: [0, 1, 2].map((group) => ({ group, start: 0 })),
  });
});

test('no adapter is one group without columns', () => {
  expect(layOutGroups([])).toEqual({ groups: 1, width: 0, places: [] });
});

test('small ranks share groups next to a large one: all start at multiples of 8, none overlap, half of the columns are used', () => {
  const random = createRandom(1);
  for (let round = 0; round < 200; round++) {
    const ranks = Array.from({ length: 1 + random.integer(16) }, () => 1 + random.integer([8, 64, 256][round % 3]!));
    const layout = layOutGroups(ranks);
    const taken = Array.from({ length: layout.groups }, () => new Array<boolean>(layout.width).fill(false));
    layout.places.forEach(({ group, start }, i) => {
      expect(start % 8).toBe(0);
      for (let column = start; column < start + ranks[i]!; column++) {
        expect(taken[group]![column]).toBe(false);
        taken[group]![column] = true;
      }
    });
    const needed = ranks.reduce((sum, rank) => sum + roundUp(rank), 0);
    expect(sizeOfLayout(layout)).toBeLessThan(2 * needed + layout.width);
  }
});

test('each sequence has a slot in the group of its adapter, and sequences without adapter read one in which no column counts', () => {
  const adapters = [8, 3, 64, 16].map((rank, i) => ({ id: `a${i}`, rank, onHead: i === 1 }));
  const layout = layOutGroups(adapters.map(({ rank }) => rank));
  const asked = ['a0', null, 'a2', 'a1', 'a0', null, 'a3', 'a2'];
  const feeds = slotFeeds(layout, adapters, asked);
  const [groups, slots] = feeds['lora_rows']!.dims as [number, number];
  const rows = Array.from(feeds['lora_rows']!.data, Number);
  const places = Array.from(feeds['lora_places']!.data, Number);
  expect(feeds['lora_places']!.dims).toEqual([asked.length, 4]);
  expect(feeds['head_adapted']!.data[0]).toBe(1);
  expect(slotFeeds(layout, adapters, ['a0', null, 'a2'])['head_adapted']!.data[0]).toBe(0);
  expect(rows).toHaveLength(groups * slots);
  asked.forEach((id, sequence) => {
    const [zero, alsoZero, group, slot] = places.slice(4 * sequence, 4 * sequence + 4) as [
      number,
      number,
      number,
      number,
    ];
    expect([zero, alsoZero]).toEqual([0, 0]);
    const cell = group * slots + slot;
    const adapter = adapters.findIndex((one) => one.id === id);
    if (id !== null) {
      expect(group).toBe(layout.places[adapter]!.group);
      expect(rows[cell]).toBe(sequence);
    }
    for (const count of [1, 2, 3]) {
      const { data, dims } = feeds[`lora_mask.${count}`]!;
      const columns = dims[3]!;
      const own = Array.from(data, Number).slice(cell * columns, (cell + 1) * columns);
      const counted = own.flatMap((flag, column) => (flag === 1 ? [column] : []));
      const first = id === null ? 0 : count * layout.places[adapter]!.start;
      const width = id === null ? 0 : count * adapters[adapter]!.rank;
      expect(counted).toEqual(Array.from({ length: width }, (_, i) => first + i));
    }
  });
});

test('with one group, every sequence has the slot of its place in the batch', () => {
  const adapters = [{ id: 'a', rank: 8, onHead: false }];
  const { grouped, adapted, lora_rows } = slotFeeds(layOutGroups([8]), adapters, ['a', null, 'a']);
  expect([grouped!.data[0], adapted!.data[0]]).toEqual([0, 1]);
  expect(lora_rows!.data).toEqual(BigInt64Array.of(0n, 1n, 2n));
  expect(slotFeeds(layOutGroups([8]), adapters, [null]).adapted!.data[0]).toBe(0);
});
