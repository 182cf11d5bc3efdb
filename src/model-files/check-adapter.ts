// Checks whether an uploaded adapter can be served and trained: its base model, its tensors by name and shape, and that all values
// are finite. One tensor is in memory at a time.
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#domain/errors';
import type { DecoderConfig } from './decoder-config.ts';
import { linearLayers } from './lora.ts';
import { parsePeftConfig } from './peft-config.ts';
import { ADAPTER_CONFIG_FILE, ADAPTER_WEIGHTS_FILE, eachLoraTensor } from './peft-directory.ts';

/** PEFT writes a kilobyte; with a list of all modules of a large model, a hundred. Both files are parsed in the server's thread. */
const CONFIG_BYTES_MAX = 1_000_000;
/** Some 150 bytes for each of two tensors of a layer's seven matrices: enough for two thousand layers. */
const HEADER_BYTES_MAX = 4_000_000;

async function refuseLongToParse(directory: string): Promise<void> {
  const { size } = await stat(join(directory, ADAPTER_CONFIG_FILE));
  if (size > CONFIG_BYTES_MAX)
    throw new AppError('bad_model_files', `${ADAPTER_CONFIG_FILE} has ${size} bytes, more than ${CONFIG_BYTES_MAX}.`);
  const file = await open(join(directory, ADAPTER_WEIGHTS_FILE));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
    const headerBytes = bytesRead === 8 ? Number(buffer.readBigUInt64LE()) : 0; // a shorter file is refused when it is read
    if (headerBytes > HEADER_BYTES_MAX)
      throw new AppError('bad_model_files', `The header of ${ADAPTER_WEIGHTS_FILE} has ${headerBytes} bytes, more than ${HEADER_BYTES_MAX}.`); // prettier-ignore
  } finally {
    await file.close();
  }
}

/** Throws `bad_model_files`. */
export async function checkAdapter(directory: string, config: DecoderConfig, baseModel: string): Promise<void> {
  await refuseLongToParse(directory);
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
