// The weights of a decoder that are trained themselves: the fused tensors that the graph takes as inputs, and each Hugging
// Face tensor as a view into them. So a fused matmul needs no copy, and saving needs no splitting.
import { invariant } from '#base/invariant';
import type { DecoderConfig } from '#model-files/decoder-config';
import { fusedParameters, sizeOf } from '../weights/fused-parameters.ts';

export interface FusedWeights {
  /** By fused name. */
  readonly tensors: ReadonlyMap<string, Float32Array>;
  /** By Hugging Face name: views into `tensors`. */
  readonly views: ReadonlyMap<string, Float32Array>;
}

export function allocateFusedWeights(config: DecoderConfig): FusedWeights {
  const tensors = new Map<string, Float32Array>();
  const views = new Map<string, Float32Array>();
  for (const { name, shape, parts } of fusedParameters(config)) {
    const whole = new Float32Array(sizeOf(shape));
    tensors.set(name, whole);
    let at = 0;
    for (const part of parts) {
      const size = sizeOf(part.shape);
      views.set(part.name, whole.subarray(at, at + size));
      at += size;
    }
    invariant(at === whole.length, `${name}: the parts have ${at} values, the whole has ${whole.length}`);
  }
  return { tensors, views };
}
