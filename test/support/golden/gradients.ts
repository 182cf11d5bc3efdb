// LoRA gradients as stored in the fixtures: a norm and projections on fixed waves, instead of all numbers.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TrainingSession } from '#engine/training-engine';
import { readAllTensors } from './fixture.ts';

/** With β₁ = 0 and no clipping, AdamW's first moment is the gradient itself. Creates `directory`. */
export async function readGradients(session: TrainingSession, directory: string): Promise<Map<string, Float32Array>> {
  await session.optimStep({ learningRate: 0, beta1: 0, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 0 });
  await mkdir(directory);
  await session.save(directory, { resumable: true });
  const moments = [...(await readAllTensors(join(directory, 'optimizer.safetensors')))];
  return new Map(moments.flatMap(([name, data]) => (name.endsWith('.exp_avg') ? [[name.slice(0, -8), data]] : [])));
}

function sketchOf(gradient: Float32Array, projections: number): number[] {
  const norm = Math.sqrt(gradient.reduce((sum, x) => sum + x * x, 0));
  const wave = (k: number) => gradient.reduce((sum, x, i) => sum + x * Math.cos(0.7 * (k + 1) * (i + 1)), 0);
  return [norm, ...Array.from({ length: projections }, (_, k) => wave(k))];
}

/**
 * ‖Δ‖ / ‖g‖ as the projections tell it, or the norm's own error if that is larger. A wave w of n numbers is no direction that
 * either prefers, so that E (Δ · w)² = ‖Δ‖² · |w|² / n = ‖Δ‖² / 2.
 */
export function sketchError(gradient: Float32Array, [norm, ...projections]: readonly number[]): number {
  const [ownNorm, ...own] = sketchOf(gradient, projections.length);
  const squares = projections.map((expected, i) => (own[i]! - expected) ** 2);
  const difference = Math.sqrt((2 * squares.reduce((a, b) => a + b, 0)) / projections.length);
  return Math.max(difference, Math.abs(ownNorm! - norm!)) / norm!;
}
