// LoRA adapters with random weights for a shape, as PEFT directories.
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createRandom } from '#base/random';
import type { AdapterRef } from '#engine/inference-engine';
import type { DecoderConfig } from '#model-files/decoder-config';
import { createLoraAdapter, linearLayers } from '#model-files/lora';
import { writePeftDirectory } from '#model-files/peft-directory';

/** Creates them in `directory`, which must exist. Ranks are used in turn. */
export function writeRandomAdapters(
  directory: string,
  config: DecoderConfig,
  count: number,
  ranks: readonly number[] = [8],
): Promise<AdapterRef[]> {
  const layers = linearLayers(config);
  const random = createRandom(1);
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const rank = ranks[i % ranks.length]!;
      const adapter = createLoraAdapter(layers, { rank, alpha: 2 * rank, seed: i });
      for (const data of adapter.tensors.values()) data.forEach((_, j) => (data[j] = (random.next() - 0.5) * 0.02));
      const own = await mkdtemp(join(directory, 'adapter-'));
      await writePeftDirectory(own, adapter, layers, 'bench');
      return { id: `adapter-${i}`, directory: own };
    }),
  );
}
