// An adapter as a PEFT directory: adapter_config.json and adapter_model.safetensors in float32. Tensors that do not fit
// the base model are refused with their name and both shapes. Equal adapters are equal bytes.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { FileTooLongError, readBoundedText } from '#base/bounded-file';
import { AppError } from '#domain/errors';
import { openSafetensors, writeSafetensors } from './safetensors.ts';
import { headCopy, loraParameters, type LinearLayer, type LoraAdapter, type LoraShape } from './lora.ts';
import type { ParameterSpec } from './decoder-parameters.ts';
import { formatPeftConfig, parsePeftConfig } from './peft-config.ts';

export const ADAPTER_CONFIG_FILE = 'adapter_config.json';
export const ADAPTER_WEIGHTS_FILE = 'adapter_model.safetensors';

/** `layers` are those of the base model, which the adapter must fit. */
export async function readPeftDirectory(directory: string, layers: readonly LinearLayer[]): Promise<LoraAdapter> {
  const configPath = join(directory, ADAPTER_CONFIG_FILE);
  const json = await readBoundedText(configPath).catch((cause: unknown) => {
    const why = cause instanceof FileTooLongError ? `: ${cause.message}` : '';
    throw new AppError('bad_model_files', `No adapter at ${directory}: ${ADAPTER_CONFIG_FILE} cannot be read${why}.`, {
      cause,
    });
  });
  const shape = parsePeftConfig(json, configPath);
  const tensors = new Map<string, Float32Array>();
  for await (const { name, values } of eachLoraTensor(directory, layers, shape)) tensors.set(name, values);
  const present = new Set(layers.map(({ target }) => target)); // `all-linear` names those of all families
  return { ...shape, targets: shape.targets.filter((target) => present.has(target)), tensors };
}

/** The adapter's tensors, one at a time. */
export const eachLoraTensor = (directory: string, layers: readonly LinearLayer[], shape: LoraShape) =>
  eachTensor(join(directory, ADAPTER_WEIGHTS_FILE), loraParameters(layers, shape), headCopy(layers, shape));

/** Reads exactly these tensors; a missing, additional or differently shaped one is an error. */
export async function readTensors(
  path: string,
  parameters: readonly ParameterSpec[],
): Promise<Map<string, Float32Array>> {
  const tensors = new Map<string, Float32Array>();
  for await (const { name, values } of eachTensor(path, parameters)) tensors.set(name, values);
  return tensors;
}

/** Like `readTensors`, one at a time. Tensors in `unread` may also be present. */
async function* eachTensor(
  path: string,
  parameters: readonly ParameterSpec[],
  unread: readonly ParameterSpec[] = [],
): AsyncGenerator<{ readonly name: string; readonly values: Float32Array }> {
  const source = await openSafetensors(path);
  try {
    const known = new Map([...parameters, ...unread].map(({ name, shape }) => [name, shape]));
    const extra = source.names().find((name) => !known.has(name));
    if (extra !== undefined) {
      const why = extra.includes('.experts.') ? ', because adapters on experts are not supported' : '';
      throw misfit(path, `tensor ${extra} ${format(source.shape(extra))} has no place in the base model${why}`);
    }
    for (const [name, shape] of known) {
      if (source.has(name) && format(source.shape(name)) !== format(shape))
        throw misfit(path, `tensor ${name} is ${format(source.shape(name))}, the base model needs ${format(shape)}`);
    }
    for (const { name, shape } of parameters) {
      if (!source.has(name)) throw misfit(path, `tensor ${name} ${format(shape)} is missing`);
      yield { name, values: await source.read(name) };
    }
  } finally {
    await source.close();
  }
}

const misfit = (path: string, fault: string): AppError =>
  new AppError('bad_model_files', `${path} does not fit the base model: ${fault}.`);

const format = (shape: readonly number[]): string => `[${shape.join(', ')}]`;

/** Writes into an existing directory, fsynced. The config is written last: a directory that has it is complete. */
export async function writePeftDirectory(
  directory: string,
  adapter: LoraAdapter,
  layers: readonly LinearLayer[],
  baseModel: string,
): Promise<void> {
  const tensors = loraParameters(layers, adapter).map(({ name, shape }) => ({
    name,
    shape,
    data: adapter.tensors.get(name)!,
    dtype: 'F32' as const,
  }));
  await writeSafetensors(join(directory, ADAPTER_WEIGHTS_FILE), tensors);
  await writeDurably(join(directory, ADAPTER_CONFIG_FILE), formatPeftConfig(adapter, baseModel));
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
