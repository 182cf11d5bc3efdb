import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { compareRanks } from '../rank.ts';
import { createRankedLine, type Ranked } from './ranked-line.ts';

test('however they come and go, the line is that of all that are there, sorted', () => {
  const random = createRandom(3);
  const line = createRankedLine<Ranked>();
  let there: Ranked[] = [];
  for (let number = 0; number < 2_000; number++) {
    const rank = { priority: random.integer(3), startTag: random.integer(20), number, payer: 'p' };
    const entry = { rank, size: 1 + random.integer(4) };
    line.add(entry);
    there.push(entry);
    if (random.integer(3) > 0) {
      const gone = there[random.integer(there.length)]!;
      line.remove(gone);
      line.remove(gone);
      there = there.filter((each) => each !== gone);
    }
  }
  const sorted = there.toSorted((a, b) => compareRanks(a.rank, b.rank));
  expect(sorted.length).toBeGreaterThan(500);
  expect(line.list()).toEqual(sorted);
  expect(line.at(0)).toBe(sorted[0]);
  expect(line.choices.all).toBe(sorted.reduce((sum, { size }) => sum + size, 0));
});
