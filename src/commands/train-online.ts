// `whetstone models train-online`: sets, shows and ends the online training of a model.
import type { Command } from 'commander';
import type { OnlineTraining, OnlineTrainingRequest } from '#client/client';
import { UsageError } from '#domain/errors';
import { decimal, wholeNumber } from './numbers.ts';
import { printable, show, withJson, type JsonFlag } from './output.ts';
import { getWholeModel, type Remote, type RemoteFlags } from './remote.ts';

interface OnlineFlags extends RemoteFlags, JsonFlag {
  readonly groups?: number;
  readonly groupSize?: number;
  readonly maxStaleness?: number;
  readonly untilStep?: number;
  readonly learningRate?: number;
  readonly stop?: boolean;
}

export function addTrainOnline(models: Command, remote: Remote): void {
  withJson(remote.command(models, 'train-online <model>'))
    .description('let the server train a model whenever enough groups of episodes are complete; shows how it stands')
    .option('--groups <count>', 'complete groups of a step; begins it', wholeNumber(1, 1_000))
    .option('--group-size <count>', 'rewarded episodes of a complete group (default: 2)', wholeNumber(2, 1_000))
    .option('--max-staleness <steps>', 'leave out episodes sampled more steps ago (default: none)', wholeNumber(0))
    .option('--until-step <step>', 'end when the model has this step (default: go on)', wholeNumber(1))
    .option('--learning-rate <number>', 'learning rate of each job (default: the server’s)', decimal(0, 1))
    .option('--stop', 'end it; a job that it has made runs on')
    .addHelpText('after', '\nSettings that are not given stay as they are.')
    .action(async (name: string, flags: OnlineFlags) => {
      const { groups, groupSize, maxStaleness, untilStep, learningRate } = flags;
      const isChanged = [groups, groupSize, maxStaleness, untilStep, learningRate].some((value) => value !== undefined);
      if (flags.stop && isChanged) throw new UsageError('Either change the settings or --stop.');
      const client = remote.connect(flags);
      const { id } = await getWholeModel(client, name);
      if (flags.stop) return show(flags, await client.deleteOnlineTraining(id), () => [`${name}: ended`]);
      if (!isChanged) {
        const stands = await client.getOnlineTraining(id);
        return show(flags, stands, () => linesOf(name, stands));
      }
      const before = (await client.getModel(id)).trained_online ? await client.getOnlineTraining(id) : null;
      const set = await client.setOnlineTraining(id, changed(before, flags));
      show(flags, set, () => linesOf(name, set));
    });
}

/** The settings as they stand, with the given ones in their place. */
function changed(
  before: OnlineTraining | null,
  { groups, groupSize, maxStaleness, untilStep, learningRate }: OnlineFlags,
): OnlineTrainingRequest {
  const groupsPerStep = groups ?? before?.groups_per_step;
  if (groupsPerStep === undefined) throw new UsageError('Say how many groups make a step with --groups.');
  const { max_staleness: _, ...config } = before?.experimental_config ?? {}; // which is that of the settings
  const sizeMin = groupSize ?? before?.group_size_min;
  return {
    groups_per_step: groupsPerStep,
    ...(sizeMin === undefined ? {} : { group_size_min: sizeMin }),
    max_staleness: maxStaleness ?? before?.max_staleness ?? null,
    until_step: untilStep ?? before?.until_step ?? null,
    experimental_config: { ...config, ...(learningRate === undefined ? {} : { learning_rate: learningRate }) },
    evaluation: before?.evaluation ?? null,
  };
}

const linesOf = (
  name: string,
  { step, status, waiting_for: waitingFor, open_groups: open }: OnlineTraining,
): string[] => [
  `${name}: step ${step}, ${status}. ${printable(waitingFor)}`,
  ...open.map((group) => `  ${printable(group.name)}: ${group.rewarded} rewarded, ${group.open} open`),
];
