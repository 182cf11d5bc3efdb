// The losses of python/golden/losses.py as the programs that jobs train with. Cross-entropy has no weights there.
import type { LossProgram } from '#engine/loss-program';
import { policyLoss } from '#training/losses';
import { lossConfig } from '../training/loss-config.ts';
import type { LossName, ModelExpectations } from './fixture.ts';

export function goldenLoss(name: LossName, clipRanges: ModelExpectations['clip']): LossProgram {
  if (name === 'cross_entropy') {
    return { name: 'golden-cross-entropy', perToken: { op: 'neg', x: { op: 'logprob' } }, metrics: {} };
  }
  const kind = name.startsWith('ppo') ? 'ppo' : 'cispo';
  const { epsilon, epsilonHigh } = clipRanges[kind];
  return policyLoss(lossConfig({ kind, epsilon, epsilonHigh }));
}
