// The forward pass compared with Transformers and PEFT: every logit of three sequences, with and without an adapter.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linearLayers, type LoraAdapter } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import { parseDecoderConfig, readDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import { maxDistance } from '../../support/golden/distance.ts';
import { FAMILIES, openModelFixture, SEQUENCES, type ModelFixture } from '../../support/golden/fixture.ts';
import { openServingForward, type ServingForward } from '../../support/golden/serving-forward.ts';

describe.each(FAMILIES)('%s', (family) => {
  let fixture: ModelFixture;
  let config: DecoderConfig;
  let adapter: LoraAdapter;
  let forward: ServingForward;

  beforeAll(async () => {
    fixture = await openModelFixture(family);
    config = await readDecoderConfig(fixture.model);
    adapter = await readPeftDirectory(fixture.adapter, linearLayers(config));
    forward = await openServingForward(config, fixture.model);
  });
  afterAll(() => forward.close());

  function expectLogits(actual: Float32Array, name: string): void {
    expect(maxDistance(actual, fixture.tensors.get(name)!), name).toBeLessThan(fixture.expected.tolerance.logits);
  }

  test('the logits of the base model are those of Transformers', async () => {
    for (const name of SEQUENCES) {
      const [logits] = await forward.logits([fixture.expected.sequences[name]], null);
      expectLogits(logits!, `base.logits.${name}`);
    }
  });

  test('an adapter saved by PEFT has the logits of PEFT', async () => {
    for (const name of SEQUENCES) {
      const [logits] = await forward.logits([fixture.expected.sequences[name]], adapter);
      expectLogits(logits!, `adapter.logits.${name}`);
    }
  });

  test('sequences of different lengths in one batch keep their logits', async () => {
    const { short, longer } = fixture.expected.sequences;
    const [first, second] = await forward.logits([short, longer], adapter);
    expectLogits(first!, 'adapter.logits.short');
    expectLogits(second!, 'adapter.logits.longer');
  });

  test('a sequence that comes in chunks and a last token over the cache keeps its logits', async () => {
    const [logits] = await forward.logits([fixture.expected.sequences.forty], adapter, 13);
    expectLogits(logits!, 'adapter.logits.forty');
  });

  test('the config.json of older Transformers describes the same model', () => {
    const path = `${fixture.directory}/config-before-v5.json`;
    const older = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    expect(older).not.toHaveProperty('rope_parameters');
    expect(parseDecoderConfig(older)).toEqual(config);
  });
});
