// Products by groups compared with the plain way, one sequence and one adapter at a time: close in float64, and bit-identical to
// a batch of one. Wide enough to cross the loop boundaries of kernels: more than 128 inputs and columns.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { parseDecoderConfig } from '#model-files/decoder-config';
import { createLoraAdapter, linearLayers, loraAName, loraBName, loraScale, type LoraAdapter } from '#model-files/lora';
import { Graph } from '../graph/graph.ts';
import { openSession, type Feed, type Session } from '../graph/session.ts';
import { fuseAdapters, soloAdapter, type FusedAdapters, type SoloAdapter } from '../serving/fused-adapters.ts';
import { groupedAdapters } from './grouped-adapters.ts';

const config = parseDecoderConfig({
  model_type: 'qwen3',
  hidden_size: 200,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 72,
  vocab_size: 210,
  max_position_embeddings: 16,
  rms_norm_eps: 1e-6,
});
const RANKS = [8, 3, 64, 16, 5, 40, 100, 1, 8, 8, 12, 32, 64, 7, 8, 24];
const LINEARS = ['qkv', 'gate_up', 'down', 'head'] as const;
type Linear = (typeof LINEARS)[number];

const partsOf = (linear: Linear) =>
  linear === 'head'
    ? [{ path: 'lm_head', inFeatures: config.hidden, outFeatures: config.vocab }]
    : config.linears[linear].map(({ module, ...sizes }) => ({ path: `model.layers.0.${module}`, ...sizes }));
const outOf = (linear: Linear) => partsOf(linear).reduce((sum, part) => sum + part.outFeatures, 0);

let session: Session;
let adapters: LoraAdapter[];
let solos: SoloAdapter[];
let none: FusedAdapters;

beforeAll(async () => {
  const g = new Graph();
  const grouped = groupedAdapters(g, config);
  for (const linear of LINEARS) {
    const lead = linear === 'head' ? ['rows'] : ['batch', 'seq'];
    const x = g.input(`x.${linear}`, 'float32', [...lead, partsOf(linear)[0]!.inFeatures]);
    const y = g.input(`y.${linear}`, 'float32', [...lead, outOf(linear)]);
    g.output(linear, linear === 'head' ? grouped.head(x, y) : grouped.linear(0, linear, x, y, (_, sum) => sum));
  }
  session = await openSession(g, { threads: 2 });
  adapters = RANKS.map((rank, seed) => {
    const adapter = createLoraAdapter(linearLayers(config), { rank, alpha: 2 * rank, seed, unembed: seed % 3 > 0 });
    const random = createRandom(seed);
    for (const data of adapter.tensors.values()) data.forEach((_, i) => (data[i] = random.next() - 0.5));
    return adapter;
  });
  solos = adapters.map((adapter, i) => soloAdapter(config, `a${i}`, adapter));
  none = fuseAdapters(config, []);
});
afterAll(() => session.close());

interface Sequence {
  readonly adapter: number | null;
  /** `[in]` and `[Σ out]` by linear. */
  readonly x: Readonly<Record<string, Float32Array>>;
  readonly y: Readonly<Record<string, Float32Array>>;
}

function sequence(adapter: number | null, seed: number): Sequence {
  const random = createRandom(seed);
  const values = (length: number) => Float32Array.from({ length }, () => random.next() - 0.5);
  return {
    adapter,
    x: Object.fromEntries(LINEARS.map((linear) => [linear, values(partsOf(linear)[0]!.inFeatures)])),
    y: Object.fromEntries(LINEARS.map((linear) => [linear, values(outOf(linear))])),
  };
}

/** One token of each sequence; results by linear and sequence. */
async function run(batch: readonly Sequence[], set: FusedAdapters): Promise<Record<string, Float32Array[]>> {
  const side = (name: 'x' | 'y', linear: Linear): Feed => {
    const size = batch[0]![name][linear]!.length;
    const dims = linear === 'head' ? [batch.length, size] : [batch.length, 1, size];
    return { data: Float32Array.from(batch.flatMap((one) => [...one[name][linear]!])), dims };
  };
  const weights = Object.entries(set.weightFeeds).filter(([name]) => LINEARS.some((own) => name.includes(`.${own}.`)));
  const results = await session.run({
    ...Object.fromEntries(weights),
    ...set.slotFeeds(batch.map(({ adapter }) => (adapter === null ? null : `a${adapter}`))),
    ...Object.fromEntries(
      LINEARS.flatMap((own) => [
        [`x.${own}`, side('x', own)],
        [`y.${own}`, side('y', own)],
      ]),
    ),
  });
  return Object.fromEntries(
    LINEARS.map((linear) => {
      const all = results[linear]!;
      const size = all.length / batch.length;
      return [linear, batch.map((_, i) => all.slice(i * size, (i + 1) * size))];
    }),
  );
}

/** y + scale · (x Aᵀ) Bᵀ of each projection. */
function slowly({ adapter, x, y }: Sequence, linear: Linear): number[] {
  const result = Array.from(y[linear]!);
  if (adapter === null) return result;
  const lora = adapters[adapter]!;
  let firstOut = 0;
  for (const { path, inFeatures, outFeatures } of partsOf(linear)) {
    const [a, b] = [lora.tensors.get(loraAName(path)), lora.tensors.get(loraBName(path))];
    if (!a || !b) continue; // no adapter on the head
    for (let r = 0; r < lora.rank; r++) {
      let inner = 0;
      for (let i = 0; i < inFeatures; i++) inner += x[linear]![i]! * a[r * inFeatures + i]!;
      for (let o = 0; o < outFeatures; o++) result[firstOut + o]! += loraScale(lora) * inner * b[o * lora.rank + r]!;
    }
    firstOut += outFeatures;
  }
  return result;
}

const setOf = (used: readonly number[]): FusedAdapters =>
  used.length === 0
    ? none
    : used.length === 1
      ? solos[used[0]!]!
      : fuseAdapters(
          config,
          used.map((i) => solos[i]!),
        );

async function expectAsAlone(batch: readonly Sequence[], set: FusedAdapters, among = batch): Promise<void> {
  const together = await run(batch, set);
  for (const one of among) {
    const alone = await run([one], setOf(one.adapter === null ? [] : [one.adapter]));
    for (const linear of LINEARS) {
      const got = together[linear]![batch.indexOf(one)]!;
      expect(got, `${linear} of sequence ${batch.indexOf(one)}`).toEqual(alone[linear]![0]);
      const reference = slowly(one, linear);
      expect(Math.max(...reference.map((value, i) => Math.abs(value - got[i]!)))).toBeLessThan(2e-3);
    }
  }
}

test.each([1, 2, 4, 16])(
  '%i adapters of mixed ranks, and sequences without: each has the bits of a batch of one',
  async (count) => {
    const used = Array.from({ length: count }, (_, i) => (i * 7) % RANKS.length);
    const random = createRandom(count);
    for (const size of [count, 9, 32]) {
      const batch = Array.from({ length: size }, (_, i) =>
        sequence(i < count ? used[i]! : [null, ...used][random.integer(count + 1)]!, i),
      );
      await expectAsAlone(batch, setOf(used));
    }
  },
);

test('an adapter of many sequences next to one of a single sequence, in any order, and a set of more than there are', async () => {
  const batch = [...Array.from({ length: 20 }, (_, i) => sequence(0, i)), sequence(2, 20), sequence(null, 21)];
  await expectAsAlone(batch, setOf([0, 2]));
  await expectAsAlone(batch.toReversed(), setOf([2, 0]));
  await expectAsAlone([...batch.slice(7), ...batch.slice(0, 7)], setOf([0, 1, 2, 3, 4, 5]));
});

test('a sequence whose values are no numbers stays alone with them', async () => {
  const sick = sequence(1, 1);
  for (const linear of LINEARS) sick.x[linear]!.fill(Infinity, 0, 3).fill(NaN, 3, 5);
  const healthy = [sequence(0, 2), sequence(4, 3), sequence(null, 4), sequence(null, 5), sequence(1, 6)];
  for (const used of [[1], [0, 1, 4], [0, 1, 2, 4]]) {
    const batch = [sick, ...healthy.filter(({ adapter }) => adapter === null || used.includes(adapter))];
    await expectAsAlone(batch, setOf(used), batch.slice(1));
  }
});

test('sets with and without adapters on the head, and sequences of either', async () => {
  for (const used of [[0], [1], [0, 3], [1, 2], [0, 1, 3, 5]]) {
    const batch = [null, ...used, ...used].map((adapter, i) => sequence(adapter, i));
    await expectAsAlone(batch, setOf(used));
  }
});
