// What a training session needs besides its adapter to produce the same bytes as one that was never interrupted, in float32:
// optimizer.safetensors, the moments of AdamW with the number of updates, and gradients.safetensors, the gradients not yet applied.
import { join } from 'node:path';
import { pathExists } from '#base/path-exists';
import { AppError } from '#domain/errors';
import { writeSafetensors } from '#model-files/safetensors';
import type { ParameterSpec as StoredParameter } from '#model-files/decoder-parameters';
import { readTensors } from '#model-files/peft-directory';
import type { AdamwState, NamedTensors } from './adamw.ts';

const OPTIMIZER_FILE = 'optimizer.safetensors';
const GRADIENTS_FILE = 'gradients.safetensors';
/** `[1]`: float32 holds every step count below 2^24 exactly, more than any run has. */
const STEP = 'step';
const meanName = (name: string): string => `${name}.exp_avg`;
const squareName = (name: string): string => `${name}.exp_avg_sq`;

const stored = (parameters: readonly StoredParameter[]): StoredParameter[] => [
  { name: STEP, shape: [1] },
  ...parameters.flatMap(({ name, shape }) => [
    { name: meanName(name), shape },
    { name: squareName(name), shape },
  ]),
];

export async function writeOptimizerFile(
  directory: string,
  state: AdamwState,
  parameters: readonly StoredParameter[],
): Promise<void> {
  const data = new Map<string, Float32Array>([[STEP, Float32Array.of(state.step)]]);
  for (const [name, moment] of state.mean) data.set(meanName(name), moment);
  for (const [name, moment] of state.square) data.set(squareName(name), moment);
  await write(join(directory, OPTIMIZER_FILE), stored(parameters), data);
}

export const writeGradientsFile = (
  directory: string,
  gradients: NamedTensors,
  parameters: readonly StoredParameter[],
): Promise<void> => write(join(directory, GRADIENTS_FILE), parameters, gradients);

async function write(path: string, parameters: readonly StoredParameter[], data: NamedTensors): Promise<void> {
  const tensors = parameters.map(({ name, shape }) => ({ name, shape, data: data.get(name)!, dtype: 'F32' as const }));
  await writeSafetensors(path, tensors);
}

/** Returns null if the directory has none. */
export async function findGradientsFile(
  directory: string,
  parameters: readonly StoredParameter[],
): Promise<NamedTensors | null> {
  const path = join(directory, GRADIENTS_FILE);
  return (await pathExists(path)) ? readTensors(path, parameters) : null;
}

/** Returns null if the directory has none. */
export async function findOptimizerFile(
  directory: string,
  parameters: readonly StoredParameter[],
): Promise<AdamwState | null> {
  const path = join(directory, OPTIMIZER_FILE);
  if (!(await pathExists(path))) return null;
  const tensors = await readTensors(path, stored(parameters));
  const step = tensors.get(STEP)![0]!;
  if (!Number.isInteger(step) || step < 0)
    throw new AppError('bad_model_files', `${path}: step ${step} is not a whole number.`);
  const moments = (nameOf: (name: string) => string) =>
    new Map(parameters.map(({ name }) => [name, tensors.get(nameOf(name))!]));
  return { step, mean: moments(meanName), square: moments(squareName) };
}
