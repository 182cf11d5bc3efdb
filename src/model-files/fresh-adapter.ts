// The adapter that every trained model starts with: B is zero, so it changes nothing yet.
import type { LoraConfig } from '#domain/lora-config';
import type { DecoderConfig } from './decoder-config.ts';
import { createLoraAdapter, linearLayers } from './lora.ts';
import { writePeftDirectory } from './peft-directory.ts';

/** Writes into an existing, empty directory. `baseModel` is stored in it for tools that load the adapter elsewhere. */
export function writeFreshAdapter(
  directory: string,
  config: DecoderConfig,
  lora: LoraConfig,
  baseModel: string,
): Promise<void> {
  const layers = linearLayers(config);
  return writePeftDirectory(directory, createLoraAdapter(layers, lora), layers, baseModel);
}
