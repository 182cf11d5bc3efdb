// optimizer.safetensors: the moments of AdamW in float32, next to the adapter they belong to, with
// the number of updates, so that a resumed run produces the same bytes as an uninterrupted one.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#domain/errors';
import { writeSafetensors } from '#model-files/safetensors';
import type { ParameterSpec as StoredParameter } from '#model-files/decoder-parameters';
import { readTensors } from '#model-files/peft-directory';
import type { AdamwState } from './adamw.ts';

const OPTIMIZER_FILE = 'optimizer.safetensors';
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
  const tensors = stored(parameters).map(({ name, shape }) => ({
    name,
    shape,
    data: data.get(name)!,
    dtype: 'F32' as const,
  }));
  await writeSafetensors(join(directory, OPTIMIZER_FILE), tensors);
}

/** Returns null if the directory has none. */
export async function findOptimizerFile(
  directory: string,
  parameters: readonly StoredParameter[],
): Promise<AdamwState | null> {
  const path = join(directory, OPTIMIZER_FILE);
  if (!(await stat(path).catch(() => null))) return null;
  const tensors = await readTensors(path, stored(parameters));
  const step = tensors.get(STEP)![0]!;
  if (!Number.isInteger(step) || step < 0)
    throw new AppError('bad_model_files', `${path}: step ${step} is not a whole number.`);
  const moments = (nameOf: (name: string) => string) =>
    new Map(parameters.map(({ name }) => [name, tensors.get(nameOf(name))!]));
  return { step, mean: moments(meanName), square: moments(squareName) };
}
