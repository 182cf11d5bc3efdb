// Online training of a model: set, read, end. The jobs that it makes are ordinary ones (training-jobs.ts).
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { GROUP_SIZE_MIN, type EpisodeGroup } from '#domain/episode';
import { ONLINE_STATUSES, type NewOnlineTraining } from '#domain/online-training';
import type { OnlineProgress } from '#services/episodes/online-training';
import { integer } from '#validation/lax';
import { parse, refuse } from '#validation/parse';
import { unknownFields, warned, warnings } from '#validation/unknown-fields';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { evaluation, readEvaluation } from './evaluation-request.ts';
import { rlConfig } from './rl-config.ts';

/** As many groups and episodes as a job may name. */
const GROUPS_MAX = 1_000;
const GROUPS_PER_STEP = 8;

const settings = {
  groups_per_step: integer({ ge: 1, le: GROUPS_MAX })
    .default(GROUPS_PER_STEP)
    .describe('A job is made when so many groups are complete. It trains the oldest of them.'),
  group_size_min: integer({ ge: GROUP_SIZE_MIN, le: GROUPS_MAX })
    .default(GROUP_SIZE_MIN)
    .describe('A group is complete with so many rewarded episodes, no open one, and a call that is trained.'),
  max_staleness: integer({ ge: 0 })
    .nullish()
    .describe(
      'Episodes that were sampled more than so many steps before the latest one are not trained and do not count. Default: all are trained.',
    ),
  until_step: integer({ ge: 1 }).nullish().describe('Ends when the model has this step. Default: never.'),
};

const setOnlineTraining = z
  .looseObject({
    ...settings,
    experimental_config: rlConfig.nullish().describe('Of each job, as in a request for an RL job.'),
    evaluation,
  })
  .meta({ title: 'OnlineTrainingRequest' });

type OnlineTrainingFields = Omit<NewOnlineTraining, 'id' | 'modelId' | 'entity' | 'keyId'>;

/** Throws ValidationError. */
function readOnlineTraining(raw: unknown): { fields: OnlineTrainingFields; warnings: readonly string[] } {
  const wire = parse(setOnlineTraining, raw, 'body');
  const { config = {}, warnings: ofConfig = [] } = wire.experimental_config ?? {};
  const { max_staleness: stale = null } = wire;
  if (stale !== null && config.maxStaleness !== undefined && config.maxStaleness !== stale)
    refuse(
      ['body', 'max_staleness'],
      `contradicts experimental_config.max_staleness ${config.maxStaleness}. Send one of them`,
      stale,
    );
  const { evaluation: evaluated, warnings: ofEvaluation } = readEvaluation(wire.evaluation);
  const all = [...unknownFields(setOnlineTraining, wire), ...ofConfig, ...ofEvaluation];
  const sent = isObject(raw) ? raw : {};
  return {
    fields: {
      groupsPerStep: wire.groups_per_step,
      groupSizeMin: wire.group_size_min,
      maxStaleness: stale ?? config.maxStaleness ?? null,
      untilStep: wire.until_step ?? null,
      job: { config, warnings: all, evaluation: evaluated },
      sent: { experimental_config: sent['experimental_config'] ?? null, evaluation: sent['evaluation'] ?? null },
    },
    warnings: all,
  };
}

const json = z.record(z.string(), z.unknown());

const openGroup = z
  .object({
    name: z.string(),
    open: z.int().describe('Episodes without a reward.'),
    rewarded: z.int().describe('Episodes with a reward that no job has used.'),
  })
  .meta({ title: 'OpenGroup' });

const onlineTrainingResponse = z
  .object({
    object: z.literal('online_training'),
    model_id: z.guid(),
    status: z
      .enum(ONLINE_STATUSES)
      .describe(
        'active: jobs are made. paused: a job failed or could not be made; PUT goes on. reached: the model has until_step.',
      ),
    waiting_for: z.string().describe('What the next step waits for, in a sentence.'),
    step: z.int().describe('The model’s latest step.'),
    complete_groups: z.int().describe('Of the next step; at most groups_per_step.'),
    missing_groups: z.int().describe('Groups that must still become complete.'),
    open_groups: z.array(openGroup).describe('The oldest groups that are not complete; at most 20.'),
    stale_groups: z
      .array(openGroup)
      .describe('The oldest groups with enough rewards, of episodes that are older than max_staleness; at most 20.'),
    running_job_id: z
      .guid()
      .nullable()
      .describe('The job that makes the next step, also one that was submitted by hand; null: none does.'),
    last_job_id: z.guid().nullable().describe('The last job since the settings were set.'),
    job_count: z.int().describe('Jobs that were made.'),
    groups_per_step: z.int().describe('Complete groups of a job.'),
    group_size_min: z.int().describe('Rewarded episodes of a complete group.'),
    max_staleness: z.int().nullable().describe('In steps; null: any.'),
    until_step: z.int().nullable().describe('It ends with this step; null: it goes on.'),
    experimental_config: json.nullable().describe('As it was sent.'),
    evaluation: json.nullable().describe('As it was sent.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: 'OnlineTraining' });

const changedOnlineTraining = onlineTrainingResponse.extend({ warnings }).meta({ title: 'ChangedOnlineTraining' });

const deletedOnlineTraining = z
  .object({ model_id: z.guid(), object: z.literal('online_training'), deleted: z.literal(true) })
  .meta({ title: 'DeletedOnlineTraining' });

const toOpenGroup = ({ name, open, rewarded }: EpisodeGroup): z.input<typeof openGroup> => ({ name, open, rewarded });

const toResponse = ({
  training,
  step,
  runningJob,
  completeGroups,
  openGroups,
  staleGroups,
  waitingFor,
}: OnlineProgress): z.input<typeof onlineTrainingResponse> => ({
  object: 'online_training',
  model_id: training.modelId,
  status: training.status,
  waiting_for: waitingFor,
  step,
  complete_groups: completeGroups,
  missing_groups: Math.max(0, training.groupsPerStep - completeGroups),
  open_groups: openGroups.map(toOpenGroup),
  stale_groups: staleGroups.map(toOpenGroup),
  running_job_id: runningJob?.id ?? null,
  last_job_id: training.lastJobId,
  job_count: training.jobCount,
  groups_per_step: training.groupsPerStep,
  group_size_min: training.groupSizeMin,
  max_staleness: training.maxStaleness,
  until_step: training.untilStep,
  experimental_config: objectOrNull(training.sent['experimental_config']),
  evaluation: objectOrNull(training.sent['evaluation']),
  created_at: new Date(training.createdAtMs).toISOString(),
  updated_at: new Date(training.updatedAtMs).toISOString(),
});

const objectOrNull = (value: unknown): Record<string, unknown> | null => (isObject(value) ? value : null);

const PATH = '/v1/preview/models/{model_id}/online-training';

export function onlineTrainingRoutes({ onlineTrainings }: Pick<ApiServices, 'onlineTrainings'>): Endpoint[] {
  return [
    endpoint({
      method: 'PUT',
      path: PATH,
      tag: 'Training jobs',
      summary: 'Train a model online: the server makes an RL job whenever enough groups of episodes are complete',
      access: 'train',
      begins: 'train',
      errors: [400, 404],
      body: { schema: setOnlineTraining, read: readOnlineTraining },
      answer: changedOnlineTraining,
      async handle({ caller, params, body, newId }) {
        const fields = { ...body.fields, id: newId, modelId: params.model_id! };
        return { ...toResponse(await onlineTrainings.put(caller, fields)), ...warned(body.warnings) };
      },
    }),
    endpoint({
      method: 'GET',
      path: PATH,
      tag: 'Training jobs',
      summary: 'Read what the next step of online training waits for',
      access: 'read',
      errors: [404],
      answer: onlineTrainingResponse,
      handle: async ({ caller, params }) => toResponse(await onlineTrainings.get(caller, params.model_id!)),
    }),
    endpoint({
      method: 'DELETE',
      path: PATH,
      tag: 'Training jobs',
      summary: 'End the online training of a model. A job that it has made runs on',
      access: 'train',
      errors: [404],
      answer: deletedOnlineTraining,
      async handle({ caller, params }) {
        await onlineTrainings.delete(caller, params.model_id!);
        return { model_id: params.model_id!, object: 'online_training', deleted: true };
      },
    }),
  ];
}
