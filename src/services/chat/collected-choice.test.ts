// What of an answer is held until it ends, and how much memory that takes.
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectGarbage } from '#base/collect-garbage';
import { plainDelta } from '../../../test/support/serving/plain-delta.ts';
import type { ChatDelta } from './answer.ts';
import { collectChoices, collectSampled, collectShown } from './collected-choice.ts';
import { createCollectedTokens } from './collected-tokens.ts';

const token = (tokenId: number, logprob = -0.1 * tokenId, topLogprobs = [{ tokenId: 9, logprob: -0.3 }]) => ({
  token: { choiceIndex: 0, tokenId, logprob, topLogprobs, finishReason: null },
});

test('an answer has the text, the calls and the tokens of its deltas, without hidden tokens; training has all tokens', () => {
  const [shown, sampled] = [collectShown(), collectSampled()];
  for (const each of [
    plainDelta({ ...token(1), thinking: 'within', hidden: true }),
    plainDelta({ ...token(2), thinking: 'within', reasoning: 'Hm' }),
    plainDelta({ ...token(3), content: 'Well: ' }),
    plainDelta({ toolCalls: [{ index: 0, id: 'a', name: 'f', arguments: '{"x":' }], token: null }),
    plainDelta({
      ...token(4),
      toolCalls: [
        { index: 0, arguments: '1}' },
        { index: 1, id: 'b', name: 'g' },
      ],
    }),
    plainDelta({ ...token(5), content: 'done', finish: { reason: 'stop', stopReason: 'x' } }),
  ]) {
    shown.push(each);
    sampled.push(each);
  }
  expect(shown).toMatchObject({
    ...{ content: 'Well: done', reasoning: 'Hm', tokenCount: 5, thinkingCount: 2 },
    finish: { reason: 'stop', stopReason: 'x' },
    calls: [
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '' },
    ],
  });
  expect([...shown.tokens.ids]).toEqual([2, 3, 4, 5]);
  expect([...shown.tokens][0]).toEqual({ tokenId: 2, logprob: -0.2, topLogprobs: [{ tokenId: 9, logprob: -0.3 }] });
  expect([...sampled.tokens]).toEqual(
    [1, 2, 3, 4, 5].map((tokenId) => ({ tokenId, logprob: -0.1 * tokenId, topLogprobs: [] })),
  );
});

test('tokens are read as they were sampled, whichever of them list alternatives', () => {
  const number = fc.double({ noNaN: true });
  const logprob = fc.record({ tokenId: fc.nat(200_000), logprob: number });
  const sampled = fc.record({
    tokenId: fc.nat(200_000),
    logprob: number,
    topLogprobs: fc.array(logprob, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(sampled, { maxLength: 40 }), (all) => {
      const tokens = createCollectedTokens();
      for (const each of all) tokens.push(each);
      expect([...tokens]).toEqual(all);
      expect([...tokens]).toEqual(all);
      expect([tokens.length, ...tokens.ids]).toEqual([all.length, ...all.map(({ tokenId }) => tokenId)]);
      expect([...tokens.logprobs]).toEqual(all.map((each) => each.logprob));
    }),
  );
});

/** Bytes of the heap and of typed arrays, whose memory V8 may free a little later than it collects them. */
async function held(): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 5; i++) {
    collectGarbage();
    await setImmediate();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    least = Math.min(least, heapUsed + arrayBuffers);
  }
  return least;
}

test.each([
  ['without alternatives', 0, 60],
  ['with two alternatives', 2, 120],
])('an answer %s is held in few bytes a token', async (_, listed, bytesMax) => {
  const [choices, tokens] = [16, 8_000];
  async function* answer(): AsyncGenerator<ChatDelta> {
    for (let i = 0; i < tokens; i++)
      for (let choiceIndex = 0; choiceIndex < choices; choiceIndex++) {
        const topLogprobs = Array.from({ length: listed }, (__, k) => ({ tokenId: i + k, logprob: -1.5 / (i + 1) }));
        const sampled = { choiceIndex, tokenId: i, logprob: -1 / (i + 1), topLogprobs, finishReason: null };
        yield plainDelta({ choiceIndex, token: sampled, content: ` t${i % 1_000}` });
      }
  }
  await collectChoices(answer(), choices); // code and maps of objects
  const before = await held();
  const collected = await collectChoices(answer(), choices);
  const bytes = ((await held()) - before) / (choices * tokens);
  expect(collected[0]!.content).toMatch(/^ t0 t1 .* t999$/s);
  expect(bytes).toBeLessThan(bytesMax);
});
