// Part of the contract of inference engines: tokens that a request switches off are not sampled, however likely they are.
import { describe, expect } from 'vitest';
import type { SamplingParams } from '#domain/sampling';
import type { SamplingSwitch } from '#engine/capabilities';
import type { Needing } from './needing.ts';

/** `answer`: of the engine, greedy by default, 12 tokens long. Called inside the suite. */
export function samplingSwitches(
  needing: Needing,
  unsupported: readonly SamplingSwitch[],
  answer: (overrides: Partial<SamplingParams>) => Promise<number[]>,
): void {
  const needingAll = (...switches: SamplingSwitch[]) =>
    needing(switches.join(' and '), !switches.some((name) => unsupported.includes(name)));

  describe('excluded tokens are not sampled, however likely they are', () => {
    needingAll('allowedTokenIds')('allowed tokens', async () => {
      const [first] = await answer({});
      expect(await answer({ allowedTokenIds: [7, 8, 9] })).toEqual(expect.not.arrayContaining([first]));
      expect(new Set([...(await answer({ allowedTokenIds: [7, 8, 9] })), 7, 8, 9]).size).toBe(3);
    });

    needingAll('logitBias')('biases', async () => {
      expect((await answer({ logitBias: [[42, 100]] }))[0]).toBe(42);
    });

    needingAll('badWords')('bad words', async () => {
      const [first, second] = await answer({});
      expect((await answer({ badWords: [[first!]] })).includes(first!)).toBe(false);
      const withoutPair = await answer({ badWords: [[first!, second!]] });
      expect(withoutPair[0]).toBe(first);
      expect(withoutPair[1]).not.toBe(second);
    });

    needingAll(
      'frequencyPenalty',
      'presencePenalty',
      'repetitionPenalty',
    )('penalties', async () => {
      expect(new Set(await answer({ frequencyPenalty: 2, presencePenalty: 2, repetitionPenalty: 5 })).size).toBe(12);
    });

    needingAll('minTokens')('ends, before there are enough tokens', async () => {
      const [first, , third] = await answer({});
      const ends = { stopTokenIds: [first!, third!], endTokenIds: [first!, third!] };
      expect(await answer(ends)).toEqual([first]);
      const late = await answer({ ...ends, minTokens: 5 });
      expect(late.length).toBeGreaterThanOrEqual(5);
      expect(late.slice(0, 5)).toEqual(expect.not.arrayContaining([first]));
    });

    needingAll('thinkingBudget')('more thinking than it may have', async () => {
      const plain = await answer({});
      const isUnspoken = (id: number) => !plain.includes(id);
      const end = [42, 43, 44].find(isUnspoken)!;
      const open = await answer({ thinkingBudget: { tokens: 3, start: [7], end, isOpen: true } });
      expect(open.slice(0, 4)).toEqual([...plain.slice(0, 3), end]);
      expect(open.slice(4).includes(end)).toBe(false); // the following tokens are unconstrained
      const begun = await answer({ thinkingBudget: { tokens: 2, start: plain.slice(0, 2), end, isOpen: false } });
      const beginsAt = plain.findIndex((id, i) => i > 0 && id === plain[1] && plain[i - 1] === plain[0]) + 1;
      expect(begun.slice(0, beginsAt + 3)).toEqual([...plain.slice(0, beginsAt + 2), end]);
      const unbegun = { tokens: 0, start: [end, end], end, isOpen: false };
      expect(await answer({ thinkingBudget: unbegun })).toEqual(plain);
    });

    needingAll('minP', 'temperature')('what is less likely than a part of the best', async () => {
      expect(await answer({ minP: 1, temperature: 1 })).toEqual(await answer({})); // only the likeliest tokens pass
    });
  });
}
