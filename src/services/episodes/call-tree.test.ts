// The tree of an episode's calls against a slow twin that compares whole prompts, and the packed form against what went in.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestOf, packContent, unpackContent } from './call-content.ts';
import { packTokens, unpackTokens } from './call-tokens.ts';
import { placeOf, promptOf, type TreeCall } from './call-tree.ts';

/** Few different tokens, so that prompts share beginnings. */
const tokens = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 30 });
interface Played {
  readonly prompt: number[];
  readonly choices: number[][];
}
const played: fc.Arbitrary<Played> = fc.record({ prompt: tokens, choices: fc.array(tokens, { maxLength: 3 }) });

function common(a: readonly number[], b: readonly number[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

/** Every call as its whole prompt, and prompts with each choice after them. */
const longestShared = (calls: readonly Played[], prompt: readonly number[]): number =>
  Math.max(
    0,
    ...calls.flatMap((call) =>
      [call.prompt, ...call.choices.map((choice) => [...call.prompt, ...choice])].map((sequence) =>
        common(sequence, prompt),
      ),
    ),
  );

function addTo(tree: TreeCall[], { prompt, choices }: Played, messageDigests: readonly string[]): TreeCall {
  const place = placeOf(tree, { promptTokens: prompt, messageDigests });
  const { parent = null, parentChoice = null, sharedTokenCount = 0, sharedMessages = 0 } = place ?? {};
  const call: TreeCall = {
    ...{ id: String(tree.length), parent, parentChoice, sharedTokenCount, sharedMessages, toolsDigest: '' },
    promptTail: Int32Array.from(prompt.slice(sharedTokenCount)),
    choices: choices.map((choice) => Int32Array.from(choice)),
    messageDigests: messageDigests.slice(sharedMessages),
  };
  tree.push(call);
  return call;
}

test('a call shares the longest beginning that any earlier call has, and its prompt is read back exactly', () => {
  fc.assert(
    fc.property(fc.array(played, { maxLength: 12 }), (all) => {
      const tree: TreeCall[] = [];
      for (const [at, call] of all.entries()) {
        const expected = longestShared(all.slice(0, at), call.prompt);
        const added = addTo(tree, call, ['system']); // the same first message: any beginning may be shared
        expect(added.sharedTokenCount).toBe(expected);
        expect([...promptOf(added)]).toEqual(call.prompt);
      }
    }),
    { numRuns: 500 },
  );
});

test('prompts of other messages, and texts that merely begin alike, begin trees of their own', () => {
  const long = Array.from({ length: 40 }, (_, i) => i);
  const tree: TreeCall[] = [];
  addTo(tree, { prompt: long, choices: [[7]] }, ['agent', 'task']);
  expect(addTo(tree, { prompt: long, choices: [] }, ['subagent', 'task']).parent).toBeNull();
  expect(addTo(tree, { prompt: [...long, 7, 8], choices: [] }, ['agent', 'task', 'more'])).toMatchObject({
    ...{ parent: tree[0], parentChoice: 0, sharedTokenCount: 41, sharedMessages: 2 },
  });
  expect(addTo(tree, { prompt: long.slice(0, 15), choices: [] }, []).parent).toBeNull();
  expect(addTo(tree, { prompt: long.slice(0, 16), choices: [] }, []).parent).toBe(tree[0]);
});

test('tokens and log-probabilities are packed and unpacked bit by bit, wherever the bytes lie', () => {
  const choice = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.float({ noNaN: true })), {
    maxLength: 9,
  });
  fc.assert(
    fc.property(fc.array(fc.nat(200_000)), fc.array(choice, { maxLength: 3 }), fc.nat(7), (tail, sampled, offset) => {
      const choices = sampled.map((pairs) => ({
        tokenIds: Int32Array.from(pairs, ([id]) => id),
        logprobs: Float32Array.from(pairs, ([, logprob]) => logprob),
      }));
      const packed = packTokens({ promptTail: Int32Array.from(tail), choices });
      expect(packed.length).toBe(4 * tail.length + 8 * sampled.flat().length);
      const moved = new Uint8Array(offset + packed.length);
      moved.set(packed, offset);
      const row = {
        ...{ promptTokenCount: tail.length + 5, sharedTokenCount: 5 },
        choices: sampled.map(({ length }) => ({ tokenCount: length, finishReason: null, isConstrained: false })),
      };
      const read = unpackTokens(moved.subarray(offset), row);
      expect(read).toEqual({ promptTail: Int32Array.from(tail), choices });
    }),
  );
  const row = { promptTokenCount: 2, sharedTokenCount: 0, choices: [] };
  expect(() => unpackTokens(new Uint8Array(4), row)).toThrow('before 8');
  expect(() => unpackTokens(new Uint8Array(12), row)).toThrow('12 bytes, not 8');
});

test('what was said is packed and unpacked, and tools are compared by their digest', async () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const content = {
    ...{ messages: [{ role: 'user', content: "it's 🙂 \u0000" }], tools, sampling: { seed: 1 }, template: {} },
    ...{ answers: [{ content: 'a', reasoning: 'b', calls: [] }], sharedMessages: 3, sharesTools: false },
  };
  expect(await unpackContent(await packContent(content))).toEqual(content);
  expect(digestOf(tools)).toBe(digestOf(structuredClone(tools)));
  expect(digestOf(tools)).not.toBe(digestOf(null));
});
