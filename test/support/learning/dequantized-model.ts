// The float32 model that 8-bit weights represent: every matrix except the embedding is computed from its codes and scales. A tied
// head, which is rounded while the embedding is not, becomes a separate tensor.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { dequantizeBlocks8, quantizeBlocks8 } from '#engine/onnx/models/quantize';
import { parseDecoderConfig } from '#model-files/decoder-config';
import { decoderParameters, EMBEDDING_WEIGHT, HEAD_WEIGHT } from '#model-files/decoder-parameters';
import { openTensors } from '#model-files/open-tensors';
import { writeSafetensors } from '#model-files/safetensors';

/** Returns its directory, which is removed after the test. */
export async function writeDequantized(modelDirectory: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-dequantized-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const json = JSON.parse(await readFile(join(modelDirectory, 'config.json'), 'utf8')) as Record<string, unknown>;
  const untied = { ...json, tie_word_embeddings: false };
  await writeFile(join(directory, 'config.json'), JSON.stringify(untied));
  const source = await openTensors(modelDirectory);
  const isTied = parseDecoderConfig(json).tiedEmbeddings;
  const tensors = [];
  for (const { name, shape } of decoderParameters(parseDecoderConfig(untied))) {
    const data = await source.read(name === HEAD_WEIGHT && isTied ? EMBEDDING_WEIGHT : name);
    const rounded = shape.length === 2 && name !== EMBEDDING_WEIGHT;
    tensors.push({ name, shape, data: rounded ? throughBlocks(data, shape) : data, dtype: 'F32' as const });
  }
  await source.close();
  await writeSafetensors(join(directory, 'model.safetensors'), tensors);
  return directory;
}

function throughBlocks(weight: Float32Array, shape: readonly number[]): Float32Array {
  const [outFeatures, inFeatures] = shape as [number, number];
  return dequantizeBlocks8(quantizeBlocks8(weight, inFeatures, outFeatures), inFeatures, outFeatures);
}
