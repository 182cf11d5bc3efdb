// The jobs of a simulation: one of each kind that differs in what it stores on its way.
import {
  BODY,
  DEMANDING,
  IMITATION,
  IMITATION_IN_EPOCHS,
  type JobData,
  NOTHING_TO_LEARN,
  OVERFITTING,
  PREFERENCE,
} from '../../support/crash/job-bodies.ts';

export const KINDS = {
  rl: BODY,
  'rl-with-other-policies': DEMANDING,
  'rl-with-nothing-to-learn': NOTHING_TO_LEARN,
  sft: { ...IMITATION, config: { ...IMITATION.config, logsMetrics: false } },
  'sft-in-epochs': IMITATION_IN_EPOCHS,
  'sft-that-stops-early': OVERFITTING,
  dpo: PREFERENCE,
} as const satisfies Record<string, JobData>;

export type Kind = keyof typeof KINDS;
