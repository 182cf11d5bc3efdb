// Jobs that a tiny model trains in a moment: short texts, one token per character.
import type { DpoConfigInput, PreferencePair } from '#domain/dpo';
import type { SftConfigInput } from '#domain/sft';
import type { RlJobBody } from '#domain/trajectory';
import { group, rollout } from '../training/rollouts.ts';

export const BODY: RlJobBody = {
  groups: ['abc', 'xyz'].map((letters) => group(...[...letters].map((letter, i) => rollout(i, letter.repeat(4))))),
  config: { learningRate: 1e-2, packedSequenceLength: 8 },
  warnings: [],
};
/** Computes the log-probabilities of other policies before it trains. */
export const DEMANDING: RlJobBody = {
  ...BODY,
  config: {
    ...BODY.config,
    precalculateLogprobs: true,
    klPenaltyCoefficient: 0.1,
    klReference: { step: 0 },
    scaleLearningRateByRewardStdDev: true,
  },
};
/** Three batches, one of several packed rows; held-out rows are measured at the end. */
export const IMITATION = {
  rows: ['abcd', 'abxy', 'zz', 'longer than the others', 'q', 'held out'].map((content) => ({
    messages: [
      { role: 'user', content: 'ask' },
      { role: 'assistant', content },
    ],
  })),
  config: { learningRate: [1e-2, 2e-2, 1e-3], batchSize: 2, validationSplit: 0.17, logsMetrics: true },
};
/** The same row twice, each unpacked, with a rate that changes at each step. */
export const IMITATION_IN_EPOCHS: { readonly rows: typeof IMITATION.rows; readonly config: SftConfigInput } = {
  rows: IMITATION.rows.slice(0, 3),
  config: { learningRate: 1e-2, schedulerType: 'cosine', warmupRatio: 0.25, batchSize: 2, epochs: 2, packs: false },
};
const answer = (content: string) => [{ role: 'assistant', content }];
/** Two batches; a pair is held out. */
export const PREFERENCE: {
  readonly pairs: readonly Omit<PreferencePair, 'tools'>[];
  readonly config: DpoConfigInput;
} = {
  pairs: [
    ['yes', 'no'],
    ['a', 'bcd'],
    ['longer than the other', 'short'],
    ['held', 'out'],
  ].map(([chosen, rejected]) => ({
    prompt: [{ role: 'user', content: 'ask' }],
    chosen: answer(chosen!),
    rejected: answer(rejected!),
  })),
  config: { learningRate: 2e-2, beta: 0.5, batchSize: 2, validationSplit: 0.25 },
};
/** Training does not help the held-out rows: no evaluation improves by enough, so the job ends with its third step. */
export const OVERFITTING: { readonly rows: typeof IMITATION.rows; readonly config: SftConfigInput } = {
  rows: ['aaaa', 'aaaaaa', 'zyxw'].map((content) => ({
    messages: [
      { role: 'user', content: 'ask' },
      { role: 'assistant', content },
    ],
  })),
  config: {
    learningRate: 5e-2,
    batchSize: 2,
    epochs: 4,
    validationSplit: 0.34,
    evalSteps: 1,
    earlyStoppingPatience: 2,
    earlyStoppingThreshold: 100,
  },
};
/** The same with pairs; it ends with the weights of its last step. */
export const PREFERENCE_STOPPED: { readonly pairs: typeof PREFERENCE.pairs; readonly config: DpoConfigInput } = {
  pairs: PREFERENCE.pairs,
  config: {
    ...PREFERENCE.config,
    batchSize: 4,
    epochs: 4,
    evalSteps: 1,
    bestMetric: 'val/rewards/margins',
    earlyStoppingPatience: 1,
    earlyStoppingThreshold: 100,
    loadsBest: false,
  },
};
export type JobData =
  RlJobBody | typeof IMITATION | typeof IMITATION_IN_EPOCHS | typeof PREFERENCE | typeof PREFERENCE_STOPPED;
export const KILLED = [
  ['', BODY],
  [', with other policies,', DEMANDING],
  [', of SFT,', IMITATION],
  [', of SFT in two epochs,', IMITATION_IN_EPOCHS],
  [', of DPO,', PREFERENCE],
  [', of SFT that stops early,', OVERFITTING],
  [', of DPO that stops early,', PREFERENCE_STOPPED],
] as const satisfies readonly (readonly [string, JobData])[];
export const NOTHING_TO_LEARN: RlJobBody = {
  groups: [group(rollout(1, 'a'), rollout(1, 'b'))],
  config: {},
  warnings: [],
};
