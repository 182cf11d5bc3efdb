// `whetstone train`: starts an RL job from a file of groups, an SFT job from a file of conversations, or a DPO job from a file of
// preference pairs, and follows it to its end.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { pathExists } from '#base/path-exists';
import { pushArtifact } from '#client/artifact-files';
import type { Client, EvaluationRequest, Model, RlJobRequest } from '#client/client';
import { AppError, UsageError } from '#domain/errors';
import { HELD_OUT_METRICS, type HeldOutMetric } from '#domain/sft';
import { asCalled } from './as-called.ts';
import { showBytes } from './download-progress.ts';
import { followJob, withVerbose } from './jobs.ts';
import { interruptible } from './interrupt.ts';
import { AGAIN, sayLost, TRANSFER_RETRIES } from './lost-server.ts';
import { decimal, wholeNumber } from './numbers.ts';
import { say, withJson, type JsonFlag } from './output.ts';
import { artifactName, getModel, type Remote, type RemoteFlags } from './remote.ts';

interface TrainFlags extends RemoteFlags, JsonFlag {
  readonly timeout: number;
  readonly verbose?: boolean;
  readonly model?: string;
  readonly dpo?: boolean;
  readonly beta?: number;
  readonly loss?: 'sigmoid' | 'robust' | 'hinge' | 'ipo';
  readonly labelSmoothing?: number;
  readonly batchSize?: number;
  readonly epochs: number;
  readonly learningRate?: number;
  readonly schedule: 'linear' | 'cosine' | 'constant';
  readonly warmup: number;
  readonly warmupSteps?: number;
  readonly packing: boolean;
  readonly validationSplit?: number;
  readonly evalSteps?: number;
  readonly earlyStoppingPatience?: number;
  readonly earlyStoppingThreshold?: number;
  readonly metricForBestModel?: HeldOutMetric;
  readonly loadBestModelAtEnd?: boolean;
  readonly assistantTurns?: 'all' | 'last';
  readonly evaluate?: string;
  readonly samples: number;
  readonly maxTokens: number;
}

export function addTrain(program: Command, remote: Remote): void {
  withVerbose(withJson(remote.command(program, 'train <file>')))
    .description('submit a training job and follow it: RL from a .json file, SFT from a .jsonl file, or DPO with --dpo')
    .addHelpText('after', FILES)
    .option('--timeout <seconds>', 'stop following after this many seconds; the job continues', wholeNumber(1), 3600)
    .option('--model <name>', 'model to train, project/name; for RL it replaces the file’s model_id')
    .option('--dpo', 'train on preference pairs')
    .option(
      '--beta <number>',
      'DPO: how strongly the policy is held near its starting point (default: 0.1)',
      decimal(0),
    )
    .addOption(
      new Option('--loss <name>', 'DPO: loss of a pair (default: sigmoid)').choices([
        'sigmoid',
        'robust',
        'hinge',
        'ipo',
      ]),
    )
    .option(
      '--label-smoothing <part>',
      'DPO: fraction of the pairs that is assumed to be labelled wrongly (default: 0)',
      decimal(0, 0.49),
    )
    .option('--batch-size <rows>', 'SFT, DPO: rows per gradient step (default: SFT 2, DPO 8)', wholeNumber(1))
    .option('--epochs <count>', 'SFT, DPO: passes over all rows', wholeNumber(1), 1)
    .option(
      '--learning-rate <number>',
      'SFT, DPO: peak learning rate (default: depends on the size of the base model)',
      decimal(0),
    )
    .addOption(
      new Option('--schedule <name>', 'SFT, DPO: learning rate after the warm-up')
        .choices(['linear', 'cosine', 'constant'])
        .default('linear'),
    )
    .option(
      '--warmup <part>',
      'SFT, DPO: fraction of the steps during which the learning rate rises',
      decimal(0, 1),
      0.1,
    )
    .option('--warmup-steps <count>', 'SFT, DPO: number of warm-up steps, instead of --warmup', wholeNumber(1))
    .option('--no-packing', 'SFT, DPO: compute each row on its own instead of several together')
    .option(
      '--validation-split <part>',
      'SFT, DPO: fraction of the rows to hold out, taken from the end (default: none)',
      decimal(0, 0.5),
    )
    .option('--eval-steps <count>', 'SFT, DPO: gradient steps between evaluations of the held-out rows', wholeNumber(1))
    .option(
      '--early-stopping-patience <count>',
      'SFT, DPO: stop after this many evaluations without improvement',
      wholeNumber(1),
    )
    .option(
      '--early-stopping-threshold <number>',
      'SFT, DPO: an improvement must be larger than this (default: 0)',
      decimal(0),
    )
    .addOption(
      new Option('--metric-for-best-model <name>', 'DPO: metric that compares evaluations (default: val/loss)').choices(
        HELD_OUT_METRICS,
      ),
    )
    .option('--load-best-model-at-end', 'SFT, DPO: the checkpoint gets the weights of the best evaluation')
    .option(
      '--no-load-best-model-at-end',
      'SFT, DPO: it gets the weights of the last step, even if the job stops early',
    )
    .addOption(
      new Option('--assistant-turns <which>', 'SFT: assistant turns to train on (default: all)').choices([
        'all',
        'last',
      ]),
    )
    .option('--evaluate <file>', 'evaluate the checkpoint on the prompts of this .jsonl file, which are not trained on')
    .option('--samples <count>', 'with --evaluate: answers per prompt', wholeNumber(1), 1)
    .option('--max-tokens <count>', 'with --evaluate: maximum tokens per answer', wholeNumber(1), 512)
    .action(async (file: string, flags: TrainFlags, command: Command) => {
      refuseForeignSettings(file, flags, command);
      const client = remote.connect(flags);
      const { id } = await interruptible(NOT_SUBMITTED, () =>
        file.endsWith('.json') ? submitRl(client, file, flags) : submitDataset(client, file, flags),
      );
      say(flags.json ? JSON.stringify({ id }) : `job ${id}`);
      await followJob(client, id, flags);
      if (flags.evaluate !== undefined && !flags.json) say(asCalled(`answers: whetstone jobs get ${id} --answers`));
    });
}

const FILES = `
<file> is one of:
  job.json                 RL: an object with model_id, trajectory_groups and experimental_config
  rows.jsonl               SFT: one conversation per line; with --dpo one preference pair per line
  project/name[:version]   an artifact with such a .jsonl file`;

/** Loaded when there is data: the rules for it would slow down the other commands. */
const checks = () => import('./check-rows.ts');

const NOT_SUBMITTED = {
  line: () => 'Interrupted while the job was submitted: check `whetstone jobs list` before you submit it again.',
  lost: 'Check `whetstone jobs list` before you submit the job again.',
};

const NOT_PUSHED = {
  line: () => `Interrupted: no job was submitted. ${AGAIN}`,
  lost: `No job was submitted. ${AGAIN}`,
};

async function submitRl(client: Client, file: string, flags: TrainFlags): Promise<{ id: string }> {
  const body = parseJson(await readFile(file, 'utf8'), file) as RlJobRequest;
  (await checks()).refuseBadGroups(file, body);
  if (flags.model === undefined && body.model_id === undefined)
    throw new UsageError(`Name the model to train with --model project/name, or by its id as model_id in ${file}.`);
  const named = flags.model === undefined ? {} : { model_id: (await modelToTrain(client, flags.model)).id };
  const job = { ...body, ...named, ...(await evaluationOf(flags)) };
  return client.submitTrainingJob(job, { idempotencyKey: randomUUID() });
}

async function modelToTrain(client: Client, name: string): Promise<Model> {
  const { model, step } = await getModel(client, name);
  if (step === null) return model;
  throw new UsageError(
    `Training continues from the latest step of a model. To start from step ${step}: whetstone models create project/name --from ${name}`,
  );
}

async function artifactNamed(name: string): Promise<string> {
  if (await pathExists(name))
    throw new UsageError(
      `${name} must end in .jsonl, with a row on each line for SFT and DPO, or in .json, with an RL job.`,
    );
  if (/^(?:[^/]+\/){1,2}[^/]+$/.test(name)) return artifactName(name);
  throw new UsageError(
    `The data must be a .json or .jsonl file, or an artifact project/name[:version], not "${name}".`,
  );
}

/** So that the name of the data has at most the 128 characters that the server allows. */
const NAME_MAX = 128 - '-sft-data'.length;

async function submitDataset(client: Client, file: string, flags: TrainFlags): Promise<{ id: string }> {
  if (flags.model === undefined) throw new UsageError('Name the model to train with --model project/name.');
  const model = await modelToTrain(client, flags.model);
  const name = `${model.entity}/${model.project}/${model.name.slice(0, NAME_MAX)}-${flags.dpo ? 'dpo' : 'sft'}-data`;
  const evaluation = await evaluationOf(flags);
  if (file.endsWith('.jsonl')) await (await checks()).refuseBadLines(file, flags.dpo ? 'dpo' : 'sft');
  const artifact = file.endsWith('.jsonl')
    ? await pushed(client, name, file)
    : await client.getArtifact(await artifactNamed(file));
  const { learningRate, warmupSteps } = flags;
  const config = {
    ...(flags.batchSize === undefined ? {} : { batch_size: flags.batchSize }),
    epochs: flags.epochs,
    packing: flags.packing,
    ...(learningRate === undefined ? {} : { learning_rate: learningRate }),
    lr_scheduler_type: flags.schedule,
    ...(warmupSteps === undefined ? { warmup_ratio: flags.warmup } : { warmup_steps: warmupSteps }),
    ...evaluatedSettings(flags),
  };
  const job = { model_id: model.id, training_data_url: artifact.uri, ...evaluation };
  const once = { idempotencyKey: randomUUID() };
  return flags.dpo
    ? client.submitDpoJob({ ...job, config: { ...config, ...dpoSettings(flags) } }, once)
    : client.submitSftJob({ ...job, config: { ...config, ...sftSettings(flags) } }, once);
}

const evaluatedSettings = (flags: TrainFlags) => ({
  ...(flags.validationSplit === undefined ? {} : { validation_split: flags.validationSplit }),
  ...(flags.evalSteps === undefined ? {} : { eval_steps: flags.evalSteps }),
  ...(flags.earlyStoppingPatience === undefined ? {} : { early_stopping_patience: flags.earlyStoppingPatience }),
  ...(flags.earlyStoppingThreshold === undefined ? {} : { early_stopping_threshold: flags.earlyStoppingThreshold }),
  ...(flags.loadBestModelAtEnd === undefined ? {} : { load_best_model_at_end: flags.loadBestModelAtEnd }),
});

async function pushed(client: Client, name: string, file: string) {
  const { onDone, end } = showBytes();
  const options = { type: 'dataset', onBytes: onDone, onConnection: sayLost(end, TRANSFER_RETRIES) };
  return interruptible(NOT_PUSHED, () => pushArtifact(client, name, file, options)).finally(end);
}

const sftSettings = ({ assistantTurns }: TrainFlags) =>
  assistantTurns === undefined ? {} : { assistant_turns: assistantTurns };

const dpoSettings = ({ beta, loss, labelSmoothing, metricForBestModel: metric }: TrainFlags) => ({
  ...(metric === undefined ? {} : { metric_for_best_model: metric }),
  ...(beta === undefined ? {} : { beta }),
  ...(loss === undefined ? {} : { loss_type: loss }),
  ...(labelSmoothing === undefined ? {} : { label_smoothing: labelSmoothing }),
});

/** Refuses flags that would be ignored: the help of a flag begins with the jobs that have it, or with the flag that it belongs to. */
function refuseForeignSettings(file: string, { dpo, evaluate }: TrainFlags, command: Command): void {
  const isRl = file.endsWith('.json');
  if (isRl && dpo) throw new UsageError(`--dpo is for rows, and a .json file is an RL job: leave it out.`);
  const kind = isRl ? 'RL' : dpo ? 'DPO' : 'SFT';
  for (const option of command.options) {
    if (command.getOptionValueSource(option.attributeName()) !== 'cli') continue;
    const [, owners = ''] = /^((?:SFT|DPO)(?:, DPO)?|with --evaluate): /.exec(option.description) ?? [];
    const isOurs =
      owners === 'with --evaluate' ? evaluate !== undefined : owners === '' || owners.split(', ').includes(kind);
    if (!isOurs) throw new UsageError(`${option.long} ${whyForeign(owners, kind)}.`);
  }
}

function whyForeign(owners: string, kind: 'RL' | 'SFT' | 'DPO'): string {
  if (owners === 'with --evaluate') return 'belongs to --evaluate: name a file of prompts with that, or leave it out';
  if (kind === 'RL') return `belongs to ${owners}: settings of an RL job are in experimental_config of its file`;
  return kind === 'SFT' ? 'belongs to DPO: add --dpo, or leave it out' : 'belongs to SFT: leave it out';
}

/** Prompts are part of the request: there are few, and the server stores them with the answers. */
async function evaluationOf({ evaluate, samples, maxTokens }: TrainFlags): Promise<{ evaluation?: EvaluationRequest }> {
  if (evaluate === undefined) return {};
  await (await checks()).refuseBadLines(evaluate, 'evaluation');
  const lines = (await readFile(evaluate, 'utf8')).split('\n');
  const prompts = lines.flatMap((line, i) =>
    line.trim() === '' ? [] : [parseJson(line, `${evaluate}, line ${i + 1}`)],
  );
  return { evaluation: { prompts, samples, max_tokens: maxTokens } };
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')); // a mark of the byte order, as Windows' programs write it
  } catch (error) {
    throw new AppError('invalid_request', `${where} is not JSON: ${(error as Error).message}`);
  }
}
