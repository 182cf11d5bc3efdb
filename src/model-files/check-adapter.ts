// Checks whether an uploaded adapter can be served and trained: its base model, its tensors by name and shape, and that all values
// are finite and small enough to compute with. One tensor is in memory at a time. The server calls it through check-adapter-elsewhere.ts.
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import { AppError, type ErrorCode } from '#domain/errors';
import type { DecoderConfig } from './decoder-config.ts';
import { linearLayers, loraScale } from './lora.ts';
import { parsePeftConfig } from './peft-config.ts';
import { ADAPTER_CONFIG_FILE, ADAPTER_WEIGHTS_FILE, eachLoraTensor } from './peft-directory.ts';

export interface AdapterCheck {
  readonly directory: string;
  readonly config: DecoderConfig;
  /** Its name, for what the adapter says about its base model. */
  readonly baseModel: string;
}

export interface CheckedAdapter {
  readonly fault: { readonly code: ErrorCode; readonly message: string } | null;
}

/** PEFT writes a kilobyte; with a list of all modules of a large model, a hundred. */
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
      throw new AppError(
        'bad_model_files',
        `The header of ${ADAPTER_WEIGHTS_FILE} has ${headerBytes} bytes, more than ${HEADER_BYTES_MAX}.`,
      );
  } finally {
    await file.close();
  }
}

/** Throws `bad_model_files`. */
export async function checkAdapter(directory: string, config: DecoderConfig, baseModel: string): Promise<void> {
  await refuseLongToParse(directory);
  const json = await readBoundedText(join(directory, ADAPTER_CONFIG_FILE));
  const shape = parsePeftConfig(json, ADAPTER_CONFIG_FILE);
  const { base_model_name_or_path: trainedOn } = JSON.parse(json) as { base_model_name_or_path?: unknown };
  if (typeof trainedOn === 'string' && !mayBe(trainedOn, baseModel))
    throw new AppError('bad_model_files', `${ADAPTER_CONFIG_FILE} says that it adapts ${trainedOn}, not ${baseModel}.`);
  let largestOfA = 0;
  for await (const { name, values } of eachLoraTensor(directory, linearLayers(config), shape)) {
    const at = values.findIndex((value) => !Number.isFinite(value));
    if (at >= 0)
      throw new AppError(
        'bad_model_files',
        `${ADAPTER_WEIGHTS_FILE}: value ${at} of ${name} is ${values[at]}, not finite.`,
      );
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    if (name.endsWith(A_SUFFIX))
      largestOfA = largest; // its B follows
    else refuseOverflow(name, loraScale(shape) * shape.rank * largestOfA * largest);
  }
}

const A_SUFFIX = '.lora_A.weight';
/** The largest float16. What a weight changes by is at most scale · rank · max|A| · max|B|; trained adapters stay below 1. */
const CHANGE_MAX = 65_504;

function refuseOverflow(name: string, change: number): void {
  if (change <= CHANGE_MAX) return;
  const fault = `with its lora_A and lora_alpha, ${name} may change a weight by ${change.toPrecision(3)}, more than ${CHANGE_MAX}`;
  throw new AppError('bad_model_files', `${ADAPTER_WEIGHTS_FILE}: ${fault}: answers would overflow.`);
}

/** A path is local to some machine, and a directory may hold a model that is also known as `owner/name`: then the shapes decide. */
function mayBe(trainedOn: string, baseModel: string): boolean {
  if (/^(?:$|[./~]|[A-Za-z]:\\)/.test(trainedOn) || trainedOn === baseModel) return true;
  return trainedOn.endsWith(`/${baseModel}`) || baseModel.endsWith(`/${trainedOn}`);
}
