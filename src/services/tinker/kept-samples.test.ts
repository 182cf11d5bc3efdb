import { beforeEach, expect, test } from 'vitest';
import { createKeptSamples, type KeptSample, type KeptSamples } from './kept-samples.ts';

const KEPT_MS = 1_000;
let nowMs: number;
let kept: KeptSamples<KeptSample>;
beforeEach(() => {
  nowMs = 0;
  kept = createKeptSamples({ clock: { now: () => nowMs }, samplesMax: 3, bytesMax: 100, keptMs: KEPT_MS });
});

const sample = (i: number, endedAtMs: number | null = 0, payer = 'key', bytes = 0): KeptSample => ({
  requestId: `id-${i}`,
  number: `sampler/${i}`,
  payer,
  endedAtMs,
  bytes,
});

test('a client that fetches its samples may ask for any number of them', () => {
  for (let i = 0; i < 20; i++) {
    const each = sample(i);
    expect(kept.add(each)).toBe(true);
    kept.fetched(each);
  }
  const ids = Array.from({ length: 20 }, (_, i) => `id-${i}`);
  expect(ids.filter((id) => kept.find(id))).toEqual(['id-17', 'id-18', 'id-19']); // lost answers are fetched again
  expect(kept.findByNumber('sampler/16')).toBeNull();
});

test('samples that were fetched again count as the newest', () => {
  const all = [0, 1, 2, 3].map((i) => sample(i));
  for (const each of all.slice(0, 3)) {
    kept.add(each);
    kept.fetched(each);
  }
  kept.fetched(all[0]!);
  kept.add(all[3]!);
  kept.fetched(all[3]!);
  expect(all.map(({ requestId }) => kept.find(requestId) !== null)).toEqual([true, false, true, true]);
});

test('the number of unfetched samples is bounded until they are old', () => {
  for (const i of [0, 1, 2]) expect(kept.add(sample(i, i === 2 ? null : 0))).toBe(true);
  expect(kept.add(sample(3))).toBe(false);
  expect(kept.find('id-3')).toBeNull();
  nowMs = KEPT_MS;
  expect(kept.add(sample(3))).toBe(true);
  expect(['id-0', 'id-1', 'id-2', 'id-3'].filter((id) => kept.find(id))).toEqual(['id-2', 'id-3']); // one still runs
});

test('answers are bounded together by their bytes: those that were fetched go first', () => {
  const all = [0, 1, 2, 3].map((i) => sample(i, null));
  kept.add(all[0]!);
  kept.ended(all[0]!, 60);
  kept.fetched(all[0]!);
  expect(kept.add(all[1]!)).toBe(true);
  kept.ended(all[1]!, 70);
  expect(kept.find('id-0')).not.toBeNull();
  expect(kept.add(all[2]!)).toBe(true);
  expect(kept.find('id-0')).toBeNull();
  kept.ended(all[2]!, 10);
  expect(kept.add(all[3]!)).toBe(false);
  nowMs = KEPT_MS;
  expect(kept.add(all[3]!)).toBe(true);
});

test('requests count while they run', () => {
  expect(kept.add(sample(0, null, 'key', 80))).toBe(true);
  expect(kept.add(sample(1, null))).toBe(false);
  kept.ended(kept.find('id-0')!, 10);
  expect(kept.add(sample(1, null))).toBe(true);
});

test('what a running sample has drawn counts, and then its answer instead', () => {
  kept.add(sample(0, null, 'key', 10));
  kept.grew(kept.find('id-0')!, 60);
  expect(kept.add(sample(1, null, 'key', 20))).toBe(true);
  expect(kept.add(sample(2, null))).toBe(false);
  kept.ended(kept.find('id-0')!, 5);
  expect(kept.add(sample(2, null))).toBe(true);
  kept.grew(sample(9, null), 1_000); // it was dropped
  expect(kept.add(sample(3, null))).toBe(false); // three are not fetched
});

test('no payer takes all the room: the next one finds some', () => {
  kept = createKeptSamples({ clock: { now: () => nowMs }, samplesMax: 100, bytesMax: 100, keptMs: KEPT_MS });
  let number = 0;
  const fill = (payer: string) => {
    let added = 0;
    while (kept.add(sample(number++, null, payer))) added++;
    return added;
  };
  expect([fill('a'), fill('b'), fill('c')]).toEqual([75, 19, 5]);
  for (let i = 0; i < 75; i++) kept.fetched(kept.find(`id-${i}`)!);
  expect(fill('b')).toBeGreaterThan(40);
});
