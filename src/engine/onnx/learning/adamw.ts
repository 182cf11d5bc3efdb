// AdamW with decoupled weight decay (arXiv:1711.05101), step by step like torch.optim.AdamW: decay, moments, bias
// correction, update. Parameters and moments are float32, updated in place; scalars are computed in double precision.
import { invariant } from '#base/invariant';
import type { OptimizerParams } from '../../training-engine.ts';

export type NamedTensors = ReadonlyMap<string, Float32Array>;

export interface AdamwState {
  /** Updates applied so far. */
  step: number;
  /** First and second moment of the gradient, by parameter name. */
  readonly mean: Map<string, Float32Array>;
  readonly square: Map<string, Float32Array>;
}

export function createAdamwState(parameters: NamedTensors): AdamwState {
  const zeros = () => new Map([...parameters].map(([name, { length }]) => [name, new Float32Array(length)]));
  return { step: 0, mean: zeros(), square: zeros() };
}

/** √Σ g² over all tensors. */
export function globalNorm(gradients: NamedTensors): number {
  let sum = 0;
  for (const tensor of gradients.values()) sum += sumOfSquares(tensor);
  return Math.sqrt(sum);
}

/** The factor by which torch.nn.utils.clip_grad_norm_ multiplies every gradient; `maxNorm` 0 is off. */
export function clipCoefficient(norm: number, maxNorm: number): number {
  return maxNorm === 0 ? 1 : Math.min(1, maxNorm / (norm + 1e-6));
}

/**
 * One update of every parameter from gradients that are first multiplied by `gradientScale`. Weight decay is skipped for
 * parameters for which `decays` is false (norms, biases).
 */
export function applyAdamw(
  parameters: NamedTensors,
  gradients: NamedTensors,
  state: AdamwState,
  params: OptimizerParams,
  gradientScale = 1,
  decays: (name: string) => boolean = () => true,
): void {
  state.step++;
  const { learningRate, beta1, beta2, epsilon, weightDecay } = params;
  const meanCorrection = 1 - beta1 ** state.step;
  const squareCorrection = Math.sqrt(1 - beta2 ** state.step);
  for (const [name, parameter] of parameters) {
    const gradient = gradients.get(name);
    const mean = state.mean.get(name);
    const square = state.square.get(name);
    invariant(gradient && mean && square, `no gradient or moments for ${name}`);
    invariant(gradient.length === parameter.length, `${name}: ${gradient.length} gradients`);
    updateTensor(parameter, gradient, mean, square, {
      gradientScale,
      beta1,
      beta2,
      epsilon,
      stepSize: learningRate / meanCorrection,
      squareCorrection,
      keep: decays(name) ? 1 - learningRate * weightDecay : 1,
    });
  }
}

interface UpdateScalars {
  gradientScale: number;
  beta1: number;
  beta2: number;
  epsilon: number;
  stepSize: number;
  squareCorrection: number;
  keep: number;
}

function updateTensor(
  parameter: Float32Array,
  gradient: Float32Array,
  mean: Float32Array,
  square: Float32Array,
  { gradientScale, beta1, beta2, epsilon, stepSize, squareCorrection, keep }: UpdateScalars,
): void {
  for (let i = 0; i < parameter.length; i++) {
    const g = gradient[i]! * gradientScale;
    const m = beta1 * mean[i]! + (1 - beta1) * g;
    const v = beta2 * square[i]! + (1 - beta2) * g * g;
    mean[i] = m;
    square[i] = v;
    parameter[i] = keep * parameter[i]! - (stepSize * m) / (Math.sqrt(v) / squareCorrection + epsilon);
  }
}

function sumOfSquares(tensor: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < tensor.length; i++) sum += tensor[i]! * tensor[i]!;
  return sum;
}
