// `whetstone train`: an RL job from a file of groups, or an SFT job from a file of conversations; follows it to its end.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { pushArtifact } from '#client/artifact-files';
import type { Client, RlJobRequest, TrainingEvent } from '#client/client';
import { DEFAULT_SCHEDULE, learningRates, type LearningRateSchedule } from '#client/learning-rates';
import { AppError } from '#domain/errors';
import { findModel, say, type Remote, type RemoteFlags } from './remote.ts';

interface TrainFlags extends RemoteFlags {
  readonly timeout: string;
  readonly model?: string;
  readonly batchSize: string;
  readonly learningRate: string;
  readonly schedule: LearningRateSchedule['kind'];
  readonly warmup: string;
  readonly assistantTurns: 'all' | 'last';
}

export function addTrain(program: Command, remote: Remote): void {
  remote
    .command(program, 'train <file>')
    .description(
      'train and follow the job: RL from a .json file (model_id, trajectory_groups, experimental_config), ' +
        'SFT from a .jsonl file (a conversation per line) or an artifact (project/name[:version])',
    )
    .option('--timeout <seconds>', 'give up waiting after this long; the job goes on', '3600')
    .option('--model <name>', 'SFT: project/name of the model')
    .option('--batch-size <rows>', 'SFT: rows per gradient step', '2')
    .option('--learning-rate <number>', 'SFT: the highest', String(DEFAULT_SCHEDULE.peak))
    .addOption(
      new Option('--schedule <name>', 'SFT: after the warm-up')
        .choices(['linear', 'cosine', 'constant'])
        .default(DEFAULT_SCHEDULE.kind),
    )
    .option('--warmup <part>', 'SFT: part of the batches over which the learning rate rises', '0.1')
    .addOption(
      new Option('--assistant-turns <which>', 'SFT: which are trained').choices(['all', 'last']).default('all'),
    )
    .action(async (file: string, flags: TrainFlags) => {
      const client = remote.connect(flags);
      const { id } = file.endsWith('.json') ? await submitRl(client, file) : await submitSft(client, file, flags);
      say(`job ${id}`);
      const job = await client.waitForJob(id, { deadlineMs: Number(flags.timeout) * 1000, onEvent: printEvent });
      say(`step ${job.step}`);
    });
}

async function submitRl(client: Client, file: string): Promise<{ id: string }> {
  const body = JSON.parse(await readFile(file, 'utf8')) as RlJobRequest;
  return client.submitTrainingJob(body, { idempotencyKey: randomUUID() });
}

async function submitSft(client: Client, file: string, flags: TrainFlags): Promise<{ id: string }> {
  if (flags.model === undefined)
    throw new AppError('invalid_request', 'Name the model to train with --model project/name.');
  const model = await findModel(client, flags.model);
  const name = `${model.entity}/${model.project}/${model.name}-sft-data`;
  const artifact = file.endsWith('.jsonl')
    ? await pushArtifact(client, name, file, { type: 'dataset' })
    : await client.getArtifact(file.split('/').length === 2 ? `~/${file}` : file);
  const batchSize = Number(flags.batchSize);
  const batches = Math.ceil((await countRows(client, artifact.uri)) / batchSize);
  const schedule = { peak: Number(flags.learningRate), kind: flags.schedule, warmupRatio: Number(flags.warmup) };
  const config = {
    batch_size: batchSize,
    learning_rate: learningRates(batches, schedule),
    assistant_turns: flags.assistantTurns,
  };
  const job = { model_id: model.id, training_data_url: artifact.uri, config };
  return client.submitSftJob(job, { idempotencyKey: randomUUID() });
}

/** Lines that are not empty, of the file that the server will read. */
async function countRows(client: Client, uri: string): Promise<number> {
  const name = uri.replace(/^wandb-artifact:\/+/, '');
  const { files } = await client.getArtifact(name);
  const lines = files.filter(({ path }) => path.endsWith('.jsonl'));
  const file = lines.find(({ path }) => ['train.jsonl', 'trajectories.jsonl'].includes(path)) ?? lines[0];
  if (!file) throw new AppError('invalid_request', `${uri} has no .jsonl file.`);
  const decoder = new TextDecoder();
  let [count, rest] = [0, ''];
  for await (const chunk of await client.downloadArtifactFile(name, file.path)) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop()!;
    count += parts.filter((line) => line.trim() !== '').length;
  }
  return count + (rest.trim() === '' ? 0 : 1);
}

function printEvent({ type, data }: TrainingEvent): void {
  const shown = Object.entries(data).map(
    ([key, value]) => `${key}=${typeof value === 'number' ? Number(value.toPrecision(5)) : JSON.stringify(value)}`,
  );
  say([type, ...shown].join('  '));
}
