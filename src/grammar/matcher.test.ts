// Which request is blamed for a lost thread, and what happens to the others. The test plays the threads.
import { expect, test, vi } from 'vitest';
import type { GrammarWorker } from './grammar-worker.ts';
import { createMatcher, wordsFor, type MatcherSlot } from './matcher.ts';
import { ANSWERED, MASK } from './thread-messages.ts';

function createWorker(guilty: number, worked: (number | null)[] = []): GrammarWorker & { readonly sent: unknown[] } {
  let lost = false;
  const sent: unknown[] = [];
  return {
    get lost() {
      return lost;
    },
    guilty,
    workedMs: () => worked.shift() ?? null,
    started: Promise.resolve(),
    nextId: () => 0,
    ask: async () => 'lost',
    tell: (message) => void sent.push(message),
    async end() {
      lost = true;
    },
    sent,
  };
}

/** A position whose mask is ready, or never arrives. */
function placeIn(worker: GrammarWorker, id: number, mask: number | null): MatcherSlot {
  const words = wordsFor(32);
  if (mask !== null) words[ANSWERED] = 1;
  words[MASK] = mask ?? 0;
  return { worker, id, words };
}

test('a text whose thread was lost because of another continues in a new thread, where it was', () => {
  const lost = createWorker(7);
  const first = placeIn(lost, 1, 0b1);
  const asked: number[][] = [];
  const matcher = createMatcher({
    place: first,
    maskMs: 5,
    reopen: (accepted) => {
      asked.push([...accepted]);
      return placeIn(createWorker(0), 1, 0b110);
    },
    onFault: () => {},
    onClose: () => {},
  });
  expect(matcher.mask()![0]).toBe(0b1);
  matcher.accept(11);
  expect(matcher.mask()![0]).toBe(0b110);
  expect(asked).toEqual([[11]]);
  expect(lost.lost).toBe(true);
});

test('the text that the thread was working on is at fault, and so is one that has a thread of its own', () => {
  const places = [placeIn(createWorker(7), 7, null), placeIn(createWorker(0), 1, null)];
  const onFault = vi.fn();
  for (const place of places) {
    const matcher = createMatcher({ place, maskMs: 5, reopen: () => null, onFault, onClose: () => {} });
    expect(() => matcher.mask()).toThrow('This constraint takes longer than 0.005 s for one token. Use a simpler one.');
  }
  expect(onFault).toHaveBeenCalledTimes(2);
});

test('a text whose threads are lost again and again is given up, without blame', () => {
  const reopen = () => {
    const worker = createWorker(7);
    void worker.end();
    return placeIn(worker, 1, null);
  };
  const matcher = createMatcher({ place: reopen(), maskMs: 5, reopen, onFault: () => {}, onClose: () => {} });
  expect(() => matcher.mask()).toThrow(expect.objectContaining({ code: 'engine_unavailable' }) as Error);
});

test('a long text outlives any number of threads lost because of others', () => {
  const reopen = () => placeIn(createWorker(7), 1, 0b1);
  const matcher = createMatcher({ place: reopen(), maskMs: 1, reopen, onFault: () => {}, onClose: () => {} });
  for (let i = 0; i < 10; i++) {
    expect(matcher.mask()![0]).toBe(0b1);
    matcher.accept(i); // never answered
  }
});

test('the text in progress when the time is over has as much time as those before it', () => {
  const place = placeIn(createWorker(1, [2, 4]), 1, null); // its mask was started 2 ms ago, and then 4
  let asked = 0;
  const wait = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
    if (++asked === 3) Atomics.store(place.words, ANSWERED, 1);
    return 'timed-out';
  });
  const now = vi.spyOn(performance, 'now').mockImplementation(() => asked * 100);
  try {
    const matcher = createMatcher({ place, maskMs: 5, reopen: () => null, onFault: () => {}, onClose: () => {} });
    expect(matcher.mask()![0]).toBe(0);
    expect(wait.mock.calls.map(([, , , waitMs]) => waitMs)).toEqual([5, 3, 1]);
  } finally {
    wait.mockRestore();
    now.mockRestore();
  }
});
