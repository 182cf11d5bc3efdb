// What was submitted to a job, and its settings, as clients read them: domain → wire.
import { z } from 'zod';
import type { Trajectory, Turn } from '#domain/trajectory';
import type { GroupSummary, ReadTrajectory } from '#services/jobs/reading-back/group-pages';
import type { JobConfig, JobGroup } from '#services/jobs/reading-back/job-inputs';

export const groupPath = z.looseObject({
  group: z
    .string()
    .regex(/^\d{1,9}$/, 'Input should be the index of a group, in digits')
    .transform(Number),
});

const record = z.record(z.string(), z.unknown());
const numbers = z.record(z.string(), z.number());

export const configResponse = z
  .object({
    config: record.describe('All settings including defaults, with the field names of the request.'),
    as_trained: z
      .boolean()
      .describe(
        'True: the settings that training used. False: the job has not started, or was started by an older version of the server.',
      ),
    input: z
      .object({
        kind: z.enum(['groups', 'artifact']),
        path: z.string().describe('Path in this API: the groups of the job, or the file of the artifact.'),
        uri: z.string().nullable().describe('URI of the artifact; null if the data is not in an artifact.'),
      })
      .describe('Where the data is.'),
  })
  .meta({ title: 'JobConfig' });

export function toConfigResponse({ job, config, isAsTrained, dataset }: JobConfig): z.input<typeof configResponse> {
  const shared = { config: { ...config }, as_trained: isAsTrained };
  if (!dataset) {
    const path = `/v1/preview/training-jobs/${job.id}/groups`;
    return { ...shared, input: { kind: 'groups', path, uri: null } };
  }
  const { entity, project, name, version } = dataset;
  const artifact = `${entity}/${project}/${name}:v${version}`;
  const path = `/v1/artifacts/${[...artifact.split('/'), ...dataset.path.split('/')].map(encodeURIComponent).join('/')}`;
  return { ...shared, input: { kind: 'artifact', path, uri: `wandb-artifact:///${artifact}` } };
}

const exception = z
  .object({
    type: z.string().nullable(),
    message: z.string(),
    traceback: z.string().nullable().describe('Stack trace of the exception.'),
  })
  .meta({ title: 'RolloutException' });
const place = { id: z.string().describe('The index, as a cursor.'), index: z.int() };

const groupFields = {
  ...place,
  prompt: z.string().nullable().describe('The last message before the first answer, truncated.'),
  prompt_is_cut: z.boolean(),
  rewards: z.array(z.number()),
  advantages: z
    .array(z.number())
    .nullable()
    .describe(
      'Advantage of each trajectory within its group, before weights are balanced over the job; null if the groups are not trained on.',
    ),
  has_signal: z
    .boolean()
    .nullable()
    .describe('False: all advantages are 0, so the group is not trained on. Null if `advantages` is null.'),
  metrics: numbers.describe('Means over the group, named like the metrics of a step.'),
  num_trajectories: z.int(),
  num_exceptions: z.int(),
  num_messages: z.int(),
  num_sampled_turns: z.int(),
  num_sampled_tokens: z.int(),
  exceptions: z.array(exception),
  logs: z.array(z.string()),
  metadata: record,
};

export const groupResponse = z.object(groupFields).meta({ title: 'TrajectoryGroupSummary' });

export const jobGroupResponse = z
  .object({
    ...groupFields,
    skipped: numbers
      .nullable()
      .describe(
        'Number of trajectories that were not trained on, or only in part (`truncated`), by reason. Null: the job has not ended, or was run by an older version of the server.',
      ),
  })
  .meta({ title: 'JobGroup' });

export const toJobGroupResponse = ({ summary, skipped }: JobGroup): z.input<typeof jobGroupResponse> => ({
  ...toGroupResponse(summary),
  skipped: skipped && { ...skipped },
});

export function toGroupResponse({
  index,
  prompt,
  advantages,
  counts,
  ...group
}: GroupSummary): z.input<typeof groupResponse> {
  return {
    id: String(index),
    index,
    prompt: prompt?.text ?? null,
    prompt_is_cut: prompt?.isCut ?? false,
    rewards: [...group.rewards],
    advantages: advantages && [...advantages],
    has_signal: advantages && advantages.some((advantage) => advantage !== 0),
    metrics: { ...group.metrics },
    num_trajectories: counts.trajectories,
    num_exceptions: counts.exceptions,
    num_messages: counts.messages,
    num_sampled_turns: counts.sampledTurns,
    num_sampled_tokens: counts.sampledTokens,
    exceptions: [...group.exceptions],
    logs: [...group.logs],
    metadata: { ...group.metadata },
  };
}

const turnResponse = z
  .object({
    message: record,
    sampled: z
      .object({
        finish_reason: z.string(),
        num_tokens: z.int().nullable().describe('Number of tokens.'),
        has_logprobs: z.boolean().describe('Whether every sampled token has its log-probability.'),
      })
      .nullable()
      .describe('For a Choice; null: a message, which is context.'),
  })
  .meta({ title: 'TurnRead' });

const trajectoryFields = {
  index: z.int(),
  reward: z.number(),
  metrics: z.record(z.string(), z.union([z.number(), z.boolean()])),
  metadata: record,
  logs: z.array(z.string()),
  start_time: z.string().nullable(),
  initial_policy_version: z.int().nullable(),
  final_policy_version: z.int().nullable(),
  histories: z
    .array(
      z.object({
        turns: z.array(turnResponse).describe('The turns of the conversation, in order.'),
        tools: z.array(z.unknown()),
      }),
    )
    .describe('The main history first, then the additional histories.'),
};

export const trajectoryResponse = z
  .object({ ...place, ...trajectoryFields, advantage: z.number().nullable() })
  .meta({ title: 'TrajectoryRead' });

export const toTrajectoryResponse = ({
  index,
  trajectory,
  advantage,
}: ReadTrajectory): z.input<typeof trajectoryResponse> => ({
  id: String(index),
  advantage,
  ...trajectoryFieldsOf(index, trajectory),
});

export function trajectoryFieldsOf(index: number, { histories, reward, metrics, notes = {} }: Trajectory) {
  return {
    index,
    reward,
    metrics: { ...metrics },
    metadata: { ...notes.metadata },
    logs: [...(notes.logs ?? [])],
    start_time: notes.startTime ?? null,
    initial_policy_version: notes.initialPolicyVersion ?? null,
    final_policy_version: notes.finalPolicyVersion ?? null,
    histories: histories.map(({ turns, tools }) => ({ turns: turns.map(toTurn), tools: [...(tools ?? [])] })),
  };
}

function toTurn(turn: Turn): z.input<typeof turnResponse> {
  if (turn.kind === 'message') return { message: turn.message, sampled: null };
  const { finishReason, tokens, logprobs } = turn;
  const sampled = { finish_reason: finishReason, num_tokens: tokens?.length ?? null, has_logprobs: logprobs !== null };
  return { message: turn.message, sampled };
}
