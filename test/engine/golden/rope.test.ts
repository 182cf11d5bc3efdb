// Rotary positions compared with PyTorch after 4096 tokens, where a small error in a frequency has grown.
import { describe, expect, test } from 'vitest';
import { parseDecoderConfig, readDecoderConfig } from '#model-files/decoder-config';
import { ropeFrequencies } from '#engine/onnx/models/rope';
import { maxDistance } from '../../support/golden/distance.ts';
import { FAMILIES, fixturePath, readAllTensors, readFixture, THOROUGH } from '../../support/golden/fixture.ts';
import { openServingForward } from '../../support/golden/serving-forward.ts';

interface RopeExpectations {
  readonly length: number;
  /** Positions whose logits are kept. */
  readonly rows: readonly number[];
  readonly sizes: Readonly<Record<string, { readonly headDim: number; readonly ropeParameters: object }>>;
}

const { length, rows, sizes } = readFixture<RopeExpectations>('rope/expected.json');
const expected = await readAllTensors(fixturePath('rope/expected.safetensors'));

describe('frequencies', () => {
  /** Bit by bit, except one of Qwen3's, whose power PyTorch itself does not round to the nearest float32. */
  test.each(Object.entries(sizes))('of %s are those of PyTorch', (name, { headDim, ropeParameters }) => {
    const config = { ...SOME_LLAMA, head_dim: headDim, rope_parameters: ropeParameters };
    const { rope } = parseDecoderConfig(config).attention[0]!;
    const theirs = expected.get(`frequencies.${name}`)!;
    const ratios = ropeFrequencies(rope!).map((ours, i) => ours / theirs[i]!);
    const different = [...ratios].filter((ratio) => ratio !== 1);
    expect(different.length).toBeLessThanOrEqual(name.startsWith('qwen3') ? 1 : 0);
    for (const ratio of different) expect(Math.abs(ratio - 1)).toBeLessThanOrEqual(2 ** -23);
  });
});

test.each(FAMILIES)('%s: the logits after thousands of tokens are those of Transformers', async (family) => {
  const modelDirectory = fixturePath(`${family}/model`);
  const count = THOROUGH.includes(family) ? length : length / 2;
  const config = { ...(await readDecoderConfig(modelDirectory)), maxPositions: count };
  const forward = await openServingForward(config, modelDirectory);
  const tokens = Array.from({ length: count }, (_, i) => (i * 7919 + (i >> 5) * 104_729) % config.vocab);
  const [logits] = await forward.logits([tokens], null, 256);
  const reached = rows.filter((row) => row < count);
  const kept = reached.flatMap((row) => [...logits!.subarray(row * config.vocab, (row + 1) * config.vocab)]);
  expect(maxDistance(kept, expected.get(`logits.${family}`)!.subarray(0, kept.length))).toBeLessThan(1e-5);
  await forward.close();
});

const SOME_LLAMA = {
  model_type: 'llama',
  hidden_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 1,
  intermediate_size: 64,
  vocab_size: 64,
  max_position_embeddings: 8192,
};
