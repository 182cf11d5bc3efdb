// The LoRA settings of a checkpoint, under PEFT's names, from its adapter_config.json. They are stored nowhere else, and an uploaded
// adapter may differ from earlier steps. The file was written by an engine, or validated by one.
import type { Checkpoint } from '#domain/checkpoint';
import type { AdapterSize } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';

export interface CheckpointLora {
  readonly r: number;
  readonly lora_alpha: number;
  /** Names of layers. */
  readonly target_modules: readonly string[];
  readonly use_rslora: boolean;
}

interface AdapterConfig {
  readonly r: number;
  readonly lora_alpha: number;
  /** PEFT also writes layer paths. */
  readonly target_modules: string | readonly string[];
  readonly use_rslora?: boolean | null;
}

/** Null: the file is missing. */
export async function findCheckpointLora(
  blobs: Pick<BlobStore, 'find'>,
  { blobPrefix }: Checkpoint,
): Promise<CheckpointLora | null> {
  const file = await blobs.find(`${blobPrefix}/adapter_config.json`);
  if (!file) return null;
  const { r, lora_alpha, target_modules, use_rslora } = JSON.parse(Buffer.from(file).toString()) as AdapterConfig;
  const names = [target_modules].flat().map((path) => path.slice(path.lastIndexOf('.') + 1));
  return { r, lora_alpha, target_modules: [...new Set(names)], use_rslora: use_rslora ?? false };
}

/** The adapter's size in a trainer's memory. */
export const adapterSize = ({ r, target_modules }: CheckpointLora): AdapterSize => ({
  rank: r,
  onHead: target_modules.includes('lm_head'),
});
