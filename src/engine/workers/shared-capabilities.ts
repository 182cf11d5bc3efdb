// The capabilities that all connected workers share, so that any of them can take a request or a job. Pure.
import { CONSTRAINT_KINDS } from '#domain/constraint';
import { PRECISIONS, type SamplerCapabilities, type TrainerCapabilities } from '../capabilities.ts';

/** Before a worker connects: assume every capability; a worker that lacks one refuses the request by name. */
const UNKNOWN_SAMPLER: SamplerCapabilities = {
  exactReplay: false,
  exactLogprobs: false,
  constraints: CONSTRAINT_KINDS,
  promptLogprobs: true,
  precision: 'bfloat16',
  unsupportedSampling: [],
};

export function sharedBySamplers(all: readonly SamplerCapabilities[]): SamplerCapabilities {
  const [first, ...others] = all;
  if (!first) return UNKNOWN_SAMPLER;
  return others.reduce(
    (shared, each) => ({
      exactReplay: shared.exactReplay && each.exactReplay && shared.precision === each.precision,
      exactLogprobs: shared.exactLogprobs && each.exactLogprobs,
      constraints: shared.constraints.filter((kind) => each.constraints.includes(kind)),
      promptLogprobs: shared.promptLogprobs && each.promptLogprobs,
      precision: PRECISIONS[Math.max(PRECISIONS.indexOf(shared.precision), PRECISIONS.indexOf(each.precision))]!,
      unsupportedSampling: [...new Set([...shared.unsupportedSampling, ...each.unsupportedSampling])],
    }),
    first,
  );
}

/** Also applies if a worker's hello does not mention them. */
export const PLAIN_TRAINER: TrainerCapabilities = {
  exactTraining: false,
  exactLogprobs: false,
  sharedPrefixRows: true,
  keepsGradients: false,
};

export function sharedByTrainers(all: readonly TrainerCapabilities[]): TrainerCapabilities {
  if (all.length === 0) return PLAIN_TRAINER;
  return {
    exactTraining: all.every(({ exactTraining }) => exactTraining),
    exactLogprobs: all.every(({ exactLogprobs }) => exactLogprobs),
    sharedPrefixRows: all.every(({ sharedPrefixRows }) => sharedPrefixRows),
    keepsGradients: all.every(({ keepsGradients }) => keepsGradients),
  };
}
