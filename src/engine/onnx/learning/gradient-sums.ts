// Gradients that were computed and not yet applied: the sum over the rows since the last optimiser step.
import { invariant } from '#base/invariant';
import type { LossProgram } from '../../loss-program.ts';
import type { ForwardBackwardResult } from '../../training-engine.ts';
import type { NamedTensors } from './adamw.ts';
import { gradientName, metricName } from './train-graph.ts';

export interface GradientSums {
  readonly gradients: NamedTensors;
  /** Takes the gradients from a run's results, and returns its loss and metrics. */
  add(results: Readonly<Record<string, Float32Array>>, loss: LossProgram): ForwardBackwardResult;
  clear(): void;
}

/** `begun`: sums to go on from; null: zeros. */
export function createGradientSums(parameters: NamedTensors, begun: NamedTensors | null): GradientSums {
  const gradients = new Map(
    [...parameters].map(([name, { length }]) => [name, begun?.get(name) ?? new Float32Array(length)]),
  );
  const result = (results: Readonly<Record<string, Float32Array>>, name: string): Float32Array => {
    const tensor = results[name];
    invariant(tensor, `the graph has no output ${name}`);
    return tensor;
  };
  return {
    gradients,
    add(results, loss) {
      for (const [name, sum] of gradients) addInto(sum, result(results, gradientName(name)));
      const metrics = Object.keys(loss.metrics).map((name) => [name, result(results, metricName(name))[0]!] as const);
      const logprobs = result(results, 'logprobs');
      return { loss: result(results, 'loss')[0]!, metrics: Object.fromEntries(metrics), logprobs };
    },
    clear() {
      for (const sum of gradients.values()) sum.fill(0);
    },
  };
}

function addInto(sum: Float32Array, addend: Float32Array): void {
  invariant(sum.length === addend.length, `gradient of ${addend.length} for ${sum.length} values`);
  for (let i = 0; i < sum.length; i++) sum[i]! += addend[i]!;
}
