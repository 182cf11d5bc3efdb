// Episodes and their calls on the wire.
import { z } from 'zod';
import { ownValues } from '#validation/own-values';
import { EPISODE_OUTCOMES, EPISODE_STATUSES, episodeNameProblem, type Episode } from '#domain/episode';
import type { EpisodesWanted, EpisodeStart, RewardGiven, TextsOf } from '#services/episodes/episodes';
import type { ReadCall, SaidCall } from '#services/episodes/read-calls';
import { boolean, number, record } from '#validation/lax';
import { parse, refuse } from '#validation/parse';
import { unknownFields, warnings } from '#validation/unknown-fields';
import { COUNTED, envelope, pageFields } from '../http/listing.ts';
import { isoOrNull } from '../http/time.ts';

/** Metadata is returned with every episode of a list. */
const METADATA_CHARACTERS_MAX = 16_000;
const METRICS_MAX = 100;
const SEARCH_CHARACTERS_MAX = 1_000;
const METRIC_NAME_MAX = 200;

/** Chosen by the client. */
const episodeName = z.string().superRefine((name, ctx) => {
  const problem = episodeNameProblem(name);
  if (problem === null) return;
  const msg = `Value error, ${problem}`;
  ctx.addIssue({
    code: 'custom',
    message: msg,
    params: { complaint: { type: 'value_error', msg, ctx: { error: {} } } },
  });
});

const metadata = ownValues().describe(
  `A JSON object of up to ${METADATA_CHARACTERS_MAX} characters, returned with the episode.`,
);

export const createEpisode = z
  .looseObject({
    model_id: z.string().min(1).describe('Id of the model that is trained.'),
    name: episodeName
      .nullish()
      .describe('Unique within the model: 1 to 128 characters of A-Z a-z 0-9 . _ ~ -. Default: made up by the server.'),
    group: episodeName
      .nullish()
      .describe('Name of the group: episodes at the same task, whose rewards are compared. In the form of name.'),
    metadata: metadata.nullish(),
  })
  .meta({ title: 'CreateEpisodeRequest' });

export function readCreateEpisode(raw: unknown): { start: EpisodeStart; warnings: readonly string[] } {
  const read = parse(createEpisode, raw, 'body');
  checkSize(read.metadata);
  return {
    start: {
      modelId: read.model_id,
      name: read.name ?? null,
      group: read.group ?? null,
      metadata: read.metadata ?? null,
    },
    warnings: unknownFields(createEpisode, read),
  };
}

export const rewardEpisode = z
  .looseObject({
    reward: number().describe('What the episode was worth. All its trained calls get its advantage within the group.'),
    metrics: record(z.union([z.boolean(), number()]))
      .nullish()
      .describe('Numbers by name, such as the parts of the reward. true is kept as 1, false as 0.'),
    metadata: metadata.nullish(),
    group: episodeName.nullish().describe('Puts the episode into this group. Default: as it is.'),
    turn_rewards: record(number())
      .nullish()
      .describe(
        'Rewards of single calls, by the `id` of their answers: in addition to the episode’s, for the tokens of that call alone.',
      ),
    status: z.enum(EPISODE_OUTCOMES).default('completed').describe('How the task ended.'),
  })
  .meta({ title: 'RewardEpisodeRequest' });

export function readRewardEpisode(raw: unknown): { given: RewardGiven; warnings: readonly string[] } {
  const read = parse(rewardEpisode, raw, 'body');
  checkSize(read.metadata);
  const metrics = Object.fromEntries(Object.entries(read.metrics ?? {}).map(([name, value]) => [name, Number(value)]));
  const names = Object.keys(metrics);
  if (names.length > METRICS_MAX || names.some(({ length }) => length > METRIC_NAME_MAX))
    refuse(
      ['body', 'metrics'],
      `at most ${METRICS_MAX} metrics with names of ${METRIC_NAME_MAX} characters`,
      names.length,
    );
  return {
    given: {
      outcome: read.status,
      reward: read.reward,
      metrics,
      turnRewards: read.turn_rewards ?? {},
      group: read.group ?? null,
      metadata: read.metadata ?? null,
    },
    warnings: unknownFields(rewardEpisode, read),
  };
}

function checkSize(metadataSent: unknown): void {
  const { length } = JSON.stringify(metadataSent ?? {});
  if (length > METADATA_CHARACTERS_MAX)
    refuse(['body', 'metadata'], `at most ${METADATA_CHARACTERS_MAX} characters of JSON, got ${length}`, null);
}

const modelIdField = {
  model_id: z.string().optional().describe('Needed if several models have an episode of this name.'),
};

export const episodeQuery = z.looseObject(modelIdField);

export const callsQuery = z.looseObject({ ...modelIdField, ...pageFields });

export const listEpisodesQuery = z.looseObject({
  ...pageFields,
  order: z.enum(['asc', 'desc']).default('desc').describe('desc: newest first. asc: oldest first.'),
  model_id: z.string().optional().describe('Only episodes of this model.'),
  group: z.string().optional().describe('Only episodes of this group.'),
  status: z.enum(EPISODE_STATUSES).optional(),
  training_job_id: z.string().optional().describe('Only episodes that this job has used.'),
  reward_min: number().optional().describe('Only episodes with this reward or a larger one.'),
  reward_max: number().optional().describe('Only episodes with this reward or a smaller one.'),
  search: z
    .string()
    .max(SEARCH_CHARACTERS_MAX)
    .optional()
    .describe(
      'Only episodes that contain this text, whatever its case: in name, group, metadata, messages, answers or tool calls. A page of a search may have fewer items than `limit`, or none, although `has_more` is true: continue after its `last_id`.',
    ),
});

export const toEpisodeFilter = (query: z.output<typeof listEpisodesQuery>): EpisodesWanted => ({
  ...(query.model_id === undefined ? {} : { modelId: query.model_id }),
  ...(query.group === undefined ? {} : { group: query.group }),
  ...(query.status === undefined ? {} : { status: query.status }),
  ...(query.training_job_id === undefined ? {} : { trainedBy: query.training_job_id }),
  ...(query.reward_min === undefined ? {} : { rewardMin: query.reward_min }),
  ...(query.reward_max === undefined ? {} : { rewardMax: query.reward_max }),
});

export const episodeResponse = z
  .object({
    id: z.guid(),
    object: z.literal('episode'),
    name: z.string(),
    group: z.string().nullable(),
    model_id: z.guid(),
    status: z
      .enum(EPISODE_STATUSES)
      .describe(
        'open: calls are added. rewarded: it has ended and may be trained. trained: a job has used it. expired: its calls were deleted.',
      ),
    outcome: z.enum(EPISODE_OUTCOMES).nullable().describe('Null: it has no reward yet.'),
    reward: z.number().nullable(),
    metrics: z.record(z.string(), z.number()),
    turn_rewards: z.record(z.string(), z.number()),
    metadata: z.record(z.string(), z.unknown()),
    created_at: z.iso.datetime(),
    last_call_at: z.iso.datetime().nullable().describe('When its last call was answered; null if it has none.'),
    rewarded_at: z.iso.datetime().nullable().describe('When it got its reward; null if it has none.'),
    expired_at: z.iso.datetime().nullable().describe('When it expired; null if it has not.'),
    trained_by: z.string().nullable().describe('Id of the training job that used it.'),
    call_count: z.int().describe('Number of calls.'),
    token_count: z.int().describe('Stored tokens; those that calls share count once.'),
    trained_token_count: z.int().describe('Sampled tokens of the calls that are trained.'),
    stored_bytes: z.int().describe('What its calls occupy, in bytes.'),
  })
  .meta({ title: 'Episode' });

const episodeCount = z.int().describe(`Number of episodes with this status. ${COUNTED}`);

export const episodeList = envelope(episodeResponse)
  .extend({
    counts: z
      .object({ open: episodeCount, rewarded: episodeCount, trained: episodeCount, expired: episodeCount })
      .nullable()
      .describe(
        'Of all episodes that the other filters find, by status: of every page, and whatever `status` asks for. Null: a `search` is not counted.',
      ),
  })
  .meta({ title: 'EpisodeList' });

export const changedEpisode = episodeResponse.extend({ warnings }).meta({ title: 'RewardedEpisode' });

export const createdEpisode = z
  .object({
    ...episodeResponse.shape,
    base_url: z.string().describe('Base URL for OpenAI clients, whose calls belong to the episode.'),
    anthropic_base_url: z.string().describe('The same for Anthropic clients.'),
    warnings,
  })
  .meta({ title: 'CreatedEpisode' });

export const deletedEpisode = z
  .object({ id: z.guid(), object: z.literal('episode'), deleted: z.literal(true) })
  .meta({ title: 'DeletedEpisode' });

const json = z.record(z.string(), z.unknown());

const callFields = {
  id: z.guid(),
  answer_id: z.string().describe('The `id` of the answer, as in turn_rewards.'),
  model: z.string().describe('The model that answered, by the name that chat accepts.'),
  policy_step: z.int().nullable().describe('The step whose weights sampled it; null: another model did.'),
  trained: boolean().describe('Whether its tokens are trained.'),
  cut: boolean().describe('It was cut off before its end, and is not trained.'),
  reshaped_by: z
    .array(z.string())
    .describe('Request fields that made the sampling distribution differ from the model’s own.'),
  created_at: z.iso.datetime(),
  parent_id: z.guid().nullable().describe('The call that it continues; null: a tree begins here.'),
  parent_choice: z.int().nullable().describe('Which choice of the parent it continues; null: none.'),
  shared_tokens: z.int().describe('So many tokens of the prompt are those of the parent.'),
  prompt_tokens: z.int(),
};

const callResponse = z
  .object({
    ...callFields,
    shared_messages: z.int().describe('So many messages are those of the parent, and not repeated here.'),
    messages: z.array(json).nullable().describe('Null: the prompt was text or token ids.'),
    tools: z.array(json).nullable(),
    shares_tools: boolean().describe('Its tools are those of the parent, and not repeated here.'),
    sampling: json.describe('Sampling parameters that differ from plain sampling.'),
    template: json.describe('What the request told the chat template.'),
    choices: z.array(
      z.object({
        index: z.int(),
        completion_tokens: z.int(),
        finish_reason: z.string().nullable().describe('Null: the choice was cut off before its end.'),
        constrained: boolean().describe('Some of its tokens were sampled under a constraint.'),
        content: z.string(),
        reasoning: z.string(),
        tool_calls: z.array(z.object({ name: z.string(), arguments: z.string() })),
      }),
    ),
  })
  .meta({ title: 'EpisodeCall' });

export const episodeWithCalls = z
  .object({
    ...episodeResponse.shape,
    calls: z
      .array(callResponse)
      .describe('In order; `parent_id` makes them trees. May be fewer than `limit` if they are large.'),
    has_more: boolean().describe('Whether more calls follow: send the last one’s id as `after`.'),
  })
  .meta({ title: 'EpisodeWithCalls' });

export const callTokensResponse = z
  .object({
    ...callFields,
    prompt_token_ids: z.array(z.int()),
    choices: z.array(
      z.object({
        index: z.int(),
        finish_reason: z.string().nullable().describe('Null: the choice was cut off before its end.'),
        constrained: boolean().describe('Some of its tokens were sampled under a constraint.'),
        token_ids: z.array(z.int()),
        logprobs: z.array(z.number()).describe('Of each token, in nats, as it was sampled.'),
        texts: z
          .array(z.string())
          .nullable()
          .describe(
            'What each token completes; empty inside a character. Null: the server does not have the base model.',
          ),
      }),
    ),
  })
  .meta({ title: 'EpisodeCallTokens' });

export const toEpisodeResponse = (episode: Episode): z.input<typeof episodeResponse> => ({
  id: episode.id,
  object: 'episode',
  name: episode.name,
  group: episode.groupName,
  model_id: episode.modelId,
  status: episode.status,
  outcome: episode.outcome,
  reward: episode.reward,
  metrics: { ...episode.metrics },
  turn_rewards: { ...episode.turnRewards },
  metadata: { ...episode.metadata },
  created_at: new Date(episode.createdAtMs).toISOString(),
  last_call_at: isoOrNull(episode.lastCallAtMs),
  rewarded_at: isoOrNull(episode.rewardedAtMs),
  expired_at: isoOrNull(episode.expiredAtMs),
  trained_by: episode.trainedBy,
  call_count: episode.callCount,
  token_count: episode.tokenCount,
  trained_token_count: episode.trainedTokenCount,
  stored_bytes: episode.callBytes,
});

const toCallFields = (call: Omit<SaidCall, 'choices' | 'content'>) => ({
  id: call.id,
  answer_id: call.answerId,
  model: call.model,
  policy_step: call.policyStep,
  trained: call.isTrainable,
  cut: call.isCut,
  reshaped_by: [...call.reshapedBy],
  created_at: new Date(call.createdAtMs).toISOString(),
  parent_id: call.parentId,
  parent_choice: call.parentChoice,
  shared_tokens: call.sharedTokenCount,
  prompt_tokens: call.promptTokenCount,
});

export const toCallResponse = ({ content, choices, ...call }: SaidCall) => ({
  ...toCallFields(call),
  shared_messages: content.sharedMessages,
  messages: content.messages,
  tools: content.tools,
  shares_tools: content.sharesTools,
  sampling: content.sampling,
  template: content.template,
  choices: choices.map(({ tokenCount, finishReason, isConstrained }, index) => ({
    index,
    completion_tokens: tokenCount,
    finish_reason: finishReason,
    constrained: isConstrained,
    content: content.answers[index]?.content ?? '',
    reasoning: content.answers[index]?.reasoning ?? '',
    tool_calls: content.answers[index]?.calls ?? [],
  })),
});

export const toCallTokensResponse = ({ promptTokens, choices, ...call }: ReadCall, textsOf: TextsOf | null) => ({
  ...toCallFields(call),
  prompt_token_ids: [...promptTokens],
  choices: choices.map(({ finishReason, isConstrained, tokenIds, logprobs }, index) => ({
    index,
    finish_reason: finishReason,
    constrained: isConstrained,
    token_ids: [...tokenIds],
    logprobs: [...logprobs],
    texts: textsOf && textsOf(tokenIds),
  })),
});
