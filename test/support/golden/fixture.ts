// The fixtures written by python/golden: where the files are, and the shape of each expected.json. See the README there.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openSafetensors } from '#model-files/safetensors';

export const FAMILIES = [
  'llama',
  'qwen2',
  'qwen3',
  'mistral',
  'smollm3',
  'granite',
  'olmo2',
  'olmo3',
  'phi3',
  'gemma2',
  'gemma3_text',
  'qwen3_moe',
  'mixtral',
] as const;
export type FamilyName = (typeof FAMILIES)[number];
/** Models of which only adapters are trained. */
export const WITH_EXPERTS: readonly FamilyName[] = ['qwen3_moe', 'mixtral'];
/** Models with every loss, layout and length: these do not depend on the layers of a family. */
export const THOROUGH: readonly FamilyName[] = ['llama', 'qwen2', 'qwen3'];
export const SEQUENCES = ['short', 'longer', 'forty'] as const;
export type LossName = 'cross_entropy' | 'cispo' | 'ppo' | 'cispo_gaps' | 'ppo_gaps';

interface ClipRange {
  readonly ppo: boolean;
  readonly epsilon: number;
  readonly epsilonHigh: number;
}

export interface ModelExpectations {
  readonly tolerance: Readonly<
    Record<'logits' | 'logprobs' | 'loss' | 'gradient' | 'gradNorm' | 'adamwLosses' | 'adamwFinal', number>
  >;
  readonly sequences: Readonly<Record<(typeof SEQUENCES)[number], readonly number[]>>;
  readonly training: {
    readonly prompt: readonly number[];
    readonly completions: readonly (readonly number[])[];
    /** `[completion][token]` */
    readonly trained: readonly (readonly boolean[])[];
  };
  readonly losses: Readonly<Record<LossName, number>>;
  /** Cross-entropy of the base model, and the norm of its gradient over every weight. */
  readonly full: { readonly loss: number; readonly gradNorm: number };
  readonly clip: Readonly<Record<'cispo' | 'ppo', ClipRange>>;
  readonly adamw: {
    readonly learningRate: number;
    readonly beta1: number;
    readonly beta2: number;
    readonly epsilon: number;
    readonly weightDecay: number;
    readonly maxGradNorm: number;
    readonly losses: readonly number[];
    readonly gradNorms: readonly number[];
  };
}

export interface ModelFixture {
  readonly directory: string;
  readonly model: string;
  readonly adapter: string;
  readonly expected: ModelExpectations;
  /** From expected.safetensors. */
  readonly tensors: ReadonlyMap<string, Float32Array>;
}

export const fixturePath = (path: string): string => fileURLToPath(new URL(`./fixtures/${path}`, import.meta.url));

export const readFixture = <T>(path: string): T => JSON.parse(readFileSync(fixturePath(path), 'utf8')) as T;

export async function openModelFixture(family: FamilyName): Promise<ModelFixture> {
  return {
    directory: fixturePath(family),
    model: fixturePath(`${family}/model`),
    adapter: fixturePath(`${family}/adapter`),
    expected: readFixture<ModelExpectations>(`${family}/expected.json`),
    tensors: await readAllTensors(fixturePath(`${family}/expected.safetensors`)),
  };
}

export async function readAllTensors(path: string): Promise<Map<string, Float32Array>> {
  const source = await openSafetensors(path);
  const tensors = new Map<string, Float32Array>();
  for (const name of source.names()) tensors.set(name, await source.read(name));
  await source.close();
  return tensors;
}
