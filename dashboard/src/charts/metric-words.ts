// What the numbers of a training step are, in a sentence each. Metrics that a client named have none.

const WORDS: Readonly<Record<string, string>> = {
  reward: 'Mean reward of the trajectories.',
  reward_std_dev:
    'How much rewards differ within a group: the mean of the groups’ standard deviations. At 0 there is nothing to learn.',
  reward_std_error: 'How much the mean reward would vary with other prompts.',
  exception_rate: 'Share of the rollouts that failed with an exception.',
  equal_groups_fraction: 'Share of the groups whose rewards are all equal: they teach nothing.',
  loss: 'What the optimizer made smaller. A policy loss moves around 0 and need not fall; that of examples should fall.',
  policy_loss: 'The loss without penalties: minus the advantage, weighted by the ratio.',
  entropy: 'How undecided the policy is, in nats per token. If it falls to 0, all answers become the same.',
  kl: 'How far the policy is from the reference, in nats per token.',
  kl_div: 'How far the policy has moved from the one that sampled, in nats per token.',
  kl_policy_ref: 'How far the policy is from the reference of the KL penalty, in nats per token.',
  grad_norm: 'Length of the gradient before it is clipped.',
  learning_rate: 'Step size of the optimizer.',
  ratio_mean:
    'Probability of a token under the policy over that under the policy that sampled it: the mean. 1: on-policy.',
  ratio_min: 'The smallest of these ratios.',
  ratio_max: 'The greatest of these ratios.',
  clipped_fraction: 'Share of the tokens whose ratio is beyond the clip.',
  logprob_difference: 'Mean distance between the log-probabilities of trainer and sampler, in nats per token.',
  num_groups_submitted: 'Groups that the client sent.',
  num_groups_trainable: 'Groups of which something could be trained.',
  num_trajectories: 'Trajectories that the client sent.',
  num_datums: 'Token sequences that the trajectories became.',
  num_rows: 'Rows of the data of the step.',
  num_pairs: 'Preference pairs of the step.',
  num_trainable_tokens: 'Tokens with a loss.',
  num_rendered_prompts: 'Prompts whose tokens nobody knew: they were made from the messages again.',
  num_constrained_turns: 'Turns that were sampled under a constraint, such as a JSON schema.',
  num_reshaped_turns: 'Turns that were not sampled from the plain policy, for example at another temperature.',
  num_sequences_in_row: 'Sequences that the step computed together.',
  num_tokens: 'Tokens that the step computed, context included.',
  num_trained_tokens: 'Tokens whose loss the step computed.',
  tokens_saved_by_sharing: 'Tokens that were not computed again, because sequences share their beginning.',
  tokens_per_second: 'Speed of the trainer.',
  epoch: 'How often the data has been seen.',
  staleness_mean: 'Mean age of the trained tokens, in steps of the model.',
  staleness_max: 'Age of the oldest trained token, in steps of the model.',
  sampler_log_ratio_mean:
    'Distance between trainer and sampler on tokens of the same weights, in nats per token: 0 if they agree.',
  sampler_log_ratio_p99: 'The same distance at the 99th percentile of the tokens.',
  sampler_clipped_fraction: 'Share of these tokens that begin beyond the clip.',
  stale_log_ratio_mean: 'How far the policy has moved from what sampled the older tokens, in nats per token.',
  stale_log_ratio_p99: 'The same at the 99th percentile of the tokens.',
  stale_clipped_fraction: 'Share of the older tokens that begin beyond the clip.',
  'rewards/chosen': 'How much likelier the preferred answers became than under the reference, times beta.',
  'rewards/rejected': 'The same for the rejected answers.',
  'rewards/margins': 'The difference of both: it should grow.',
  'rewards/accuracies': 'Share of the pairs in which the preferred answer gained more.',
  'logps/chosen': 'Mean log-probability of the preferred answers.',
  'logps/rejected': 'Mean log-probability of the rejected answers.',
  seconds: 'Duration of the job.',
  skipped: 'Trajectories that were not trained.',
};

/** Null: a client's own metric. */
export function explainMetric(metric: string): string | null {
  const [, part, name = metric] = /^(val|train)\/(.+)$/.exec(metric) ?? [];
  const known = Object.hasOwn(WORDS, name) ? WORDS[name]! : null;
  if (part === 'val') return known === null ? 'Measured on data that was held out.' : `${known} On held-out data.`;
  if (metric.startsWith('skipped/')) return 'Trajectories that were not trained for this reason.';
  return metric.startsWith('group_metric_') ? 'Mean of a metric that the client gave its groups.' : known;
}
