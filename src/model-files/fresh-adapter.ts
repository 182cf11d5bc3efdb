// The adapter with which every trained model starts: B is zero, so that it changes nothing yet.
import type { LoraConfig } from '#domain/lora-config';
import type { DecoderConfig } from './decoder-config.ts';
import { createLoraAdapter, linearLayers } from './lora.ts';
import { writePeftDirectory } from './peft-directory.ts';

/** Into an existing, empty directory. `baseModel` is written into it, for whoever loads it elsewhere. */
export function writeFreshAdapter(
  directory: string,
  config: DecoderConfig,
  lora: LoraConfig,
  baseModel: string,
): Promise<void> {
  const layers = linearLayers(config);
  return writePeftDirectory(directory, createLoraAdapter(layers, lora), layers, baseModel);
}
