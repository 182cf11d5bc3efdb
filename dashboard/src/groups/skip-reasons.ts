// Explains in sentences why trajectories were not trained: the reasons that jobs count (training/rl-plan.ts, training/tokenize.ts).

const SENTENCES: Readonly<Record<string, string>> = {
  equal_rewards: 'All rewards of the group are equal, so there is nothing to learn from comparing them.',
  zero_advantage: 'Its reward equals the mean of its group, or balancing reduced its advantage to zero.',
  exceptions: 'The rollout failed before it received a reward.',
  no_logprobs: 'Its choices came without log-probabilities or token ids, and the server no longer has them.',
  no_trainable_tokens: 'It has no sampled choice: plain messages are only context.',
  unknown_tokens: 'Some of its tokens are not in the vocabulary of the base model.',
  refused_by_template:
    'The chat template refuses the conversation before its answer, and no token ids of the prompt were sent.',
  logprob_count_mismatch: 'A choice has a different number of log-probabilities than of tokens.',
  stale: 'An older step sampled it than the job’s max_staleness allows.',
  too_long: 'No sampled token lies within the longest sequence that the trainer accepts.',
  truncated: 'It was trained up to the longest sequence that the trainer accepts; the rest was not.',
};

export const explainSkip = (reason: string): string => SENTENCES[reason] ?? `The job gives the reason ${reason}.`;

/** `equal_rewards` → `equal rewards`. */
export const nameSkip = (reason: string): string => reason.replaceAll('_', ' ');
