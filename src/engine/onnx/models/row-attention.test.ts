// Attention in blocks compared with attention at once: the same values and gradients for every block size.
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import type { DecoderConfig } from '#model-files/decoder-config';
import { tinyConfig } from '../../../../test/support/learning/tiny-decoders.ts';
import { gradients } from '../graph/autodiff.ts';
import { Graph, type Value } from '../graph/graph.ts';
import * as ops from '../graph/ops.ts';
import { openSession, type Feed } from '../graph/session.ts';
import { attentionBlocks } from '../learning/attention-mask.ts';
import { attention, tileMask } from './attention.ts';
import { rowDistances, withinWindow } from './layer-masks.ts';
import { rowAttention, type RowContext } from './row-attention.ts';

const SEQ = 11;
const WINDOW = 4;
const PLAIN = tinyConfig('qwen3'); // heads share keys
const CONFIGS: Record<string, DecoderConfig> = {
  'grouped heads': PLAIN,
  'a head per key': { ...PLAIN, heads: PLAIN.kvHeads },
  'capped scores': { ...PLAIN, softCaps: { ...PLAIN.softCaps, attention: 2 } },
};

type Attend = (g: Graph, qkv: readonly [Value, Value, Value], row: RowContext, whole: Value) => Value;

/** A prompt with two answers, and an example of its own. */
const ROW = { segments: Int32Array.of(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3), parents: Int32Array.of(-1, 0, 0, -1) };
const POSITIONS = [0n, 1n, 2n, 3n, 4n, 5n, 3n, 4n, 5n, 0n, 1n];

/** The result and the gradients of q, k and v, of random numbers. `whole`: `[1, 1, seq, seq]`, the mask of all at once. */
async function run({ heads, kvHeads, headDim }: DecoderConfig, block: number, attend: Attend) {
  const random = createRandom(3);
  const g = new Graph();
  const feeds: Record<string, Feed> = {};
  const tensor = (name: string, count: number) => {
    const data = Float32Array.from({ length: count * SEQ * headDim }, () => 2 * random.next() - 1);
    feeds[name] = { data, dims: [1, count, SEQ, headDim] };
    return g.input(name, 'float32', ['batch', count, 'seq', headDim]);
  };
  const qkv = [tensor('q', heads), tensor('k', kvHeads), tensor('v', kvHeads)] as const;
  const direction = tensor('direction', heads);
  const input = (
    name: string,
    dtype: 'float32' | 'int64',
    feed: Feed['data'],
    shape: readonly string[] | null = [name],
  ) => {
    feeds[name] = { data: feed, dims: shape === null ? [] : [feed.length] };
    return g.input(name, dtype, shape ?? []);
  };
  const blocks = attentionBlocks([ROW], SEQ, block);
  const row = {
    positions: g.input('positions', 'int64', ['batch', 'seq']),
    block: input('block', 'int64', BigInt64Array.of(BigInt(block)), null),
    keys: input('keys', 'int64', blocks.keys),
    mask: input('mask', 'float32', blocks.mask),
    keyStarts: input('key_starts', 'int64', blocks.keyStarts),
    maskStarts: input('mask_starts', 'int64', blocks.maskStarts),
  };
  feeds['positions'] = { data: BigInt64Array.from(POSITIONS), dims: [1, SEQ] };
  const whole = g.input('whole', 'float32', ['batch', 1, 'seq', 'seq']);
  feeds['whole'] = { data: attentionBlocks([ROW], SEQ, SEQ).mask, dims: [1, 1, SEQ, SEQ] };
  const attended = attend(g, qkv, row, whole);
  const loss = ops.reduceSum(g, ops.mul(g, attended, direction), [0, 1, 2, 3], false);
  const grads = gradients(g, loss, qkv);
  g.output('attended', attended);
  grads.forEach((grad, i) => g.output(`d${'qkv'[i]}`, grad));
  const session = await openSession(g, { threads: 1 });
  const results = await session.run(feeds);
  await session.close();
  return results;
}

const atOnce =
  (config: DecoderConfig, window: number | null): Attend =>
  (g, qkv, { positions }, mask) => {
    const near = window === null ? mask : withinWindow(g, mask, rowDistances(g, positions, positions), window);
    return attention(g, config, qkv, tileMask(g, config, near));
  };

const CASES = Object.entries(CONFIGS).flatMap(([name, config]) =>
  [null, WINDOW].map((window) => ({ name: `${name}, window ${window}`, config, window })),
);

test.each(CASES)('$name: blocks return the same as all at once', async ({ config, window }) => {
  const expected = await run(config, SEQ, atOnce(config, window));
  for (const block of [1, 3, SEQ, 100]) {
    const found = await run(config, block, (g, qkv, row) => rowAttention(g, config, window, qkv, row));
    for (const name of ['attended', 'dq', 'dk', 'dv']) {
      const [own, reference] = [found[name]!, expected[name]!];
      expect(own.length, name).toBe(reference.length);
      const error = Math.max(...own.map((x, i) => Math.abs(x - reference[i]!)));
      expect(error, `${name} in blocks of ${block}`).toBeLessThan(2e-6);
      expect(Math.max(...own)).toBeGreaterThan(0.1); // otherwise the comparison proves nothing
    }
  }
});
