// Settings of the policy loss for tests: the default with one thing changed, and a covering set of combinations.
import { resolveRlConfig, type PolicyLossConfig } from '#training/rl-config';

export const lossConfig = (change: Partial<PolicyLossConfig> = {}): PolicyLossConfig => ({
  ...resolveRlConfig({}).loss,
  ...change,
});

const LEVELS = ['token', 'sequence', 'average', 'geometric_average'] as const;
const CLIPS = [
  { kind: 'cispo', epsilon: 1, epsilonHigh: 4 },
  { kind: 'cispo', epsilon: 0.3, epsilonHigh: 0.4 },
  { kind: 'ppo', epsilon: 0.2, epsilonHigh: 0.28 },
] as const;
const EXTRAS: Record<string, Partial<PolicyLossConfig>> = {
  'nothing else': {},
  'capped and masked': { ratioMax: 1.5, masksRatio: true },
  'tau and truncation': { tau: 0.3, truncation: 1.2 },
  'old logprobs anew': { precalculates: true, truncation: 1.1 },
  'KL of the sampler': { kl: { coefficient: 0.4, source: 'sample' } },
  'KL of the learner, all together': {
    kl: { coefficient: 0.2, source: 'current_learner' },
    precalculates: true,
    tau: 0.1,
    ratioMax: 2,
    truncation: 1.5,
  },
};

/** Every level with every clip range and every extra. */
export const LOSS_CONFIGS: readonly { readonly name: string; readonly config: PolicyLossConfig }[] = LEVELS.flatMap(
  (importanceSampling) =>
    CLIPS.flatMap((clip) =>
      Object.entries(EXTRAS).map(([extra, change]) => ({
        name: `${clip.kind} ${clip.epsilon}, ${importanceSampling}, ${extra}`,
        config: lossConfig({ importanceSampling, ...clip, ...change }),
      })),
    ),
);
