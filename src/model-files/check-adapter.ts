// Checks whether an uploaded adapter can be served and trained: its base model, its tensors by name and shape, and that all values
// are finite. One tensor is in memory at a time.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#domain/errors';
import type { DecoderConfig } from './decoder-config.ts';
import { linearLayers } from './lora.ts';
import { parsePeftConfig } from './peft-config.ts';
import { ADAPTER_CONFIG_FILE, ADAPTER_WEIGHTS_FILE, eachLoraTensor } from './peft-directory.ts';

/** Throws `bad_model_files`. */
export async function checkAdapter(directory: string, config: DecoderConfig, baseModel: string): Promise<void> {
  const json = await readFile(join(directory, ADAPTER_CONFIG_FILE), 'utf8');
  const shape = parsePeftConfig(json, ADAPTER_CONFIG_FILE);
  const { base_model_name_or_path: trainedOn } = JSON.parse(json) as { base_model_name_or_path?: unknown };
  if (typeof trainedOn === 'string' && !mayBe(trainedOn, baseModel))
    throw new AppError('bad_model_files', `${ADAPTER_CONFIG_FILE} says that it adapts ${trainedOn}, not ${baseModel}.`);
  for await (const { name, values } of eachLoraTensor(directory, linearLayers(config), shape)) {
    const at = values.findIndex((value) => !Number.isFinite(value));
    if (at >= 0)
      throw new AppError(
        'bad_model_files',
        `${ADAPTER_WEIGHTS_FILE}: value ${at} of ${name} is ${values[at]}, not finite.`,
      );
  }
}

/** A path is local to some machine, and a directory may hold a model that is also known as `owner/name`: then the shapes decide. */
function mayBe(trainedOn: string, baseModel: string): boolean {
  if (/^(?:$|[./~]|[A-Za-z]:\\)/.test(trainedOn) || trainedOn === baseModel) return true;
  return trainedOn.endsWith(`/${baseModel}`) || baseModel.endsWith(`/${trainedOn}`);
}
