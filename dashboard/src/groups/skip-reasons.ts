// Why trajectories were not trained, in sentences: the reasons that jobs count (training/rl-plan.ts, training/tokenize.ts).

const SENTENCES: Readonly<Record<string, string>> = {
  equal_rewards:
    'All rewards of the group are equal: none is better than the others, so there is nothing to learn from it.',
  zero_advantage: 'Its reward is the mean of its group, or balancing left nothing of its advantage.',
  exceptions: 'The rollout failed before it had a reward.',
  no_logprobs: 'Its choices came without log-probabilities or token ids, and the server does not remember them.',
  no_trainable_tokens: 'It has no choice: plain messages are context.',
  unknown_tokens: 'Some of its tokens are not in the vocabulary of the base model.',
  logprob_count_mismatch: 'A choice has another number of log-probabilities than of tokens.',
  too_long: 'Nothing that was sampled lies within the longest sequence that the trainer takes.',
  truncated: 'It was trained up to the longest sequence that the trainer takes; what lies behind was not.',
};

export const explainSkip = (reason: string): string => SENTENCES[reason] ?? `The job counts it as ${reason}.`;

/** `equal_rewards` → `equal rewards`. */
export const nameSkip = (reason: string): string => reason.replaceAll('_', ' ');
