// Trained tokens as clients read them: domain → wire. Lists have one entry per token, to keep long sequences compact.
import { z } from 'zod';
import type { TrainedTrajectory } from '#services/jobs/reading-back/job-inputs';
import type { TrainedSequence } from '#services/jobs/reading-back/token-training';

const perToken = z.array(z.number().nullable());

const sequence = z
  .object({
    step: z.int().describe('The gradient step that trained it: 1, 2, …'),
    advantage: z
      .number()
      .describe(
        'Advantage of each trained token, balanced and scaled over the job; their mean, if there are `advantages`.',
      ),
    advantages: perToken
      .nullable()
      .describe('If calls of the episodes had rewards of their own: the advantage of each trained token.'),
    weight: z.number().describe('Loss weight of each trained token.'),
    token_ids: z.array(z.int()),
    texts: z
      .array(z.string())
      .nullable()
      .describe(
        'Text that each token completes: concatenated, they are the whole text. A token that ends within a character has an empty text. Invalid UTF-8 is replaced by U+FFFD. Null: this server does not host the base model.',
      ),
    trained: z
      .array(z.boolean())
      .describe('Whether the token is trained on. False: context; the lists below are null at that position.'),
    policy_steps: perToken.describe('The step of the model that sampled the token; null: not known.'),
    sampler_logprobs: perToken.describe('As sent in the request or remembered by the server; null: not known.'),
    trainer_logprobs: perToken.nullable().describe('As used by the loss, before the update of the gradient step.'),
    ratios: perToken.nullable().describe('At the importance sampling level of the job, before caps, masks and clips.'),
    trainer_unknown: z
      .enum(['not_reached', 'not_told'])
      .nullable()
      .describe(
        'Why trainer_logprobs are missing. `not_reached`: the job ended before that step. `not_told`: the engine does not report them, or the job was resumed from a state without them.',
      ),
    start_logprobs: perToken
      .nullable()
      .describe('With precalculate_logprobs: the log-probabilities that ratios are computed against.'),
    reference_logprobs: perToken
      .nullable()
      .describe('Log-probabilities of the reference policy, with a KL penalty or reference.'),
  })
  .meta({ title: 'TokenSequence' });

export const tokensResponse = z
  .object({
    id: z.string(),
    index: z.int(),
    reward: z.number(),
    advantage: z.number().nullable().describe('Advantage within the group, as in the list of groups.'),
    is_trained: z
      .boolean()
      .nullable()
      .describe('Null: not known, because the job has not ended or was run by an older version of the server.'),
    reason: z.string().nullable().describe('`truncated`, or why the trajectory was not trained on.'),
    sequences: z
      .array(sequence)
      .describe(
        'The sequences it was trained as. There are several if a prompt does not start with the previous tokens.',
      ),
  })
  .meta({ title: 'TrainedTokens' });

export function toTokensResponse(read: TrainedTrajectory): z.input<typeof tokensResponse> {
  const { index, trajectory, advantage, training, textsOf } = read;
  return {
    id: String(index),
    index,
    reward: trajectory.reward,
    advantage,
    is_trained: training && training.sequences.length > 0,
    reason: training?.reason ?? null,
    sequences: (training?.sequences ?? []).map((each) => toSequence(each, textsOf)),
  };
}

const toSequence = (read: TrainedSequence, textsOf: TrainedTrajectory['textsOf']): z.input<typeof sequence> => ({
  step: read.step,
  advantage: read.advantage,
  advantages: read.advantages && [...read.advantages],
  weight: read.weight,
  token_ids: [...read.tokens],
  texts: textsOf && textsOf(read.tokens),
  trained: Array.from(read.trained, (one) => one === 1),
  policy_steps: [...read.policySteps],
  sampler_logprobs: [...read.samplerLogprobs],
  trainer_logprobs: read.trainerLogprobs && [...read.trainerLogprobs],
  ratios: read.ratios && [...read.ratios],
  trainer_unknown: read.trainerUnknown,
  start_logprobs: read.startLogprobs && [...read.startLogprobs],
  reference_logprobs: read.referenceLogprobs && [...read.referenceLogprobs],
});
