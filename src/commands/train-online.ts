// `whetstone models train-online`: sets, shows and ends the online training of a model.
import type { Command } from 'commander';
import type { OnlineTraining, OnlineTrainingRequest } from '#client/client';
import { UsageError } from '#domain/errors';
import { decimal, wholeNumber } from './numbers.ts';
import { printable, show, withJson, type JsonFlag } from './output.ts';
import { getModel, type Remote, type RemoteFlags } from './remote.ts';

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
    .option('--groups <count>', 'complete groups of a step; begins it, or changes its settings', wholeNumber(1, 1_000))
    .option('--group-size <count>', 'rewarded episodes of a complete group (default: 2)', wholeNumber(2, 1_000))
    .option('--max-staleness <steps>', 'leave out episodes sampled more steps ago (default: none)', wholeNumber(0))
    .option('--until-step <step>', 'end when the model has this step (default: go on)', wholeNumber(1))
    .option('--learning-rate <number>', 'learning rate of each job (default: the server’s)', decimal(0, 1))
    .option('--stop', 'end it; a job that it has made runs on')
    .action(async (name: string, flags: OnlineFlags) => {
      const settings = settingsOf(flags);
      if (flags.stop && settings) throw new UsageError('Either change the settings or --stop.');
      const client = remote.connect(flags);
      const { id } = (await getModel(client, name)).model;
      if (flags.stop) return show(flags, await client.deleteOnlineTraining(id), () => [`${name}: ended`]);
      const stands = settings ? await client.setOnlineTraining(id, settings) : await client.getOnlineTraining(id);
      show(flags, stands, () => linesOf(name, stands));
    });
}

/** Null: only to be shown. */
function settingsOf({
  groups,
  groupSize,
  maxStaleness,
  untilStep,
  learningRate,
}: OnlineFlags): OnlineTrainingRequest | null {
  const more = [groupSize, maxStaleness, untilStep, learningRate].some((value) => value !== undefined);
  if (groups === undefined) {
    if (more) throw new UsageError('Say how many groups make a step with --groups.');
    return null;
  }
  return {
    groups_per_step: groups,
    ...(groupSize === undefined ? {} : { group_size_min: groupSize }),
    ...(maxStaleness === undefined ? {} : { max_staleness: maxStaleness }),
    ...(untilStep === undefined ? {} : { until_step: untilStep }),
    ...(learningRate === undefined ? {} : { experimental_config: { learning_rate: learningRate } }),
  };
}

const linesOf = (
  name: string,
  { step, status, waiting_for: waitingFor, open_groups: open }: OnlineTraining,
): string[] => [
  `${name}: step ${step}, ${status}. ${printable(waitingFor)}`,
  ...open.map((group) => `  ${printable(group.name)}: ${group.rewarded} rewarded, ${group.open} open`),
];
