// `whetstone models`: creates and lists models, sets which checkpoints they keep, and exports their metrics. Deleting, archiving and
// tagging them: model-labels.ts.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { Option, type Command } from 'commander';
import { unfinishedPath, writeWholeFile } from '#base/whole-file';
import type { LoraOptions, SavePolicy } from '#client/client';
import { UsageError } from '#domain/errors';
import { writingTo } from './full-disk.ts';
import { safeName } from './file-name.ts';
import { decimal, wholeNumber } from './numbers.ts';
import { interruptible } from './interrupt.ts';
import { addModelLabels } from './model-labels.ts';
import { listModels, withFilters, type ListFlags } from './model-list.ts';
import { all, confirm, say, show, withJson, withoutWords, withYes, type JsonFlag, type YesFlag } from './output.ts';
import { pipeOut, writeError } from './terminal.ts';
import { getWholeModel, type Remote, type RemoteFlags } from './remote.ts';
import { addTrainOnline } from './train-online.ts';

export function addModels(program: Command, remote: Remote): void {
  const list = (flags: ListFlags) => listModels(remote.connect(flags), flags);
  const models = withoutWords(withFilters(withJson(remote.command(program, 'models'))))
    .description('list the models that can be called, one per line; create models to train')
    .action(list);
  withFilters(withJson(remote.command(models, 'list')))
    .alias('ls')
    .description('the same as `whetstone models` alone')
    .action(list);

  withPolicy(withJson(remote.command(models, 'create <model>')))
    .description('register a model to train; <model> is project/name')
    .option('--base-model <id>', 'base model to train on (default: the first that the server hosts)')
    .option('--from <checkpoint>', 'start from a copy of this checkpoint, such as project/name:step3')
    .option('--lora-rank <count>', 'rank of the adapter (default: 8)', wholeNumber(1, 256))
    .option('--lora-alpha <number>', 'the adapter’s output is scaled by alpha / rank (default: 16)', decimal(0))
    .option(
      '--lora-targets <names>',
      'comma-separated linear layers to adapt, such as q_proj,v_proj,lm_head (default: all but lm_head)',
      namesIn,
    )
    .option('--rslora', 'scale the adapter’s output by alpha / √rank instead')
    .option('--lora-seed <number>', 'seed of the adapter’s initial values (default: 3407)', wholeNumber(0, 2 ** 32 - 1))
    .action(async (name: string, flags: CreateFlags) => {
      const client = remote.connect(flags);
      const [project, model, ...others] = name.split('/');
      if (!project || !model || others.length > 0) throw new UsageError(`Name the model project/name, not "${name}".`);
      const made = await client.registerModel({
        project,
        name: model,
        base_model: flags.baseModel ?? (await client.listBaseModels())[0]!,
        from_checkpoint: flags.from ?? null,
        return_existing: false,
        ...loraOf(flags),
        save_policy: policyOf(flags),
      });
      writeError(`${project}/${model} can be called and trained, over ${made.base_model}. Its id:\n`);
      show(flags, made, ({ id }) => [id]);
    });

  withYes(withPolicy(withJson(remote.command(models, 'keep <model>'))))
    .description('limit how many checkpoints of a model are kept: each job that makes one then deletes older ones')
    .option('--all', 'keep all checkpoints')
    .action(async (name: string, flags: KeepFlags) => {
      const policy = policyOf(flags);
      if ((policy === null) !== (flags.all === true))
        throw new UsageError(
          'Say how many checkpoints to keep with --save-total-limit, or keep all of them with --all.',
        );
      const client = remote.connect(flags);
      const model = await getWholeModel(client, name);
      if (policy !== null)
        await confirm(flags, `Keep ${describePolicy(policy, ` of ${name}`)}? The next jobs delete the others.`);
      const { save_policy: kept } = await client.setSavePolicy(model.id, policy);
      show(flags, { save_policy: kept }, () => [kept ? `keeps ${describePolicy(kept)}` : 'keeps all checkpoints']);
    });

  addModelLabels(models, remote);
  addTrainOnline(models, remote);

  withJson(remote.command(models, 'metrics <model>'))
    .description('print the metrics of each training step of a model')
    .addOption(new Option('--format <name>', 'format of the output').choices(FORMATS).default('csv'))
    .option(
      '--out <directory>',
      'write the file to project/name below this directory, which tensorboard --logdir reads (default: print it)',
    )
    .action(async (name: string, { format, out, ...flags }: MetricsFlags) => {
      const client = remote.connect(flags);
      const model = await getWholeModel(client, name);
      if (flags.json) return show(flags, await all(client.listHistory(model.id)), () => []);
      const exported = (await client.exportHistory(model.id, format)) as NodeReadableStream;
      if (out === undefined) {
        if (format === 'tensorboard') throw new UsageError('Name the directory for the event file with --out.');
        return pipeOut(exported);
      }
      const directory = join(out, safeName(model.project), safeName(model.name));
      await mkdir(directory, { recursive: true });
      const path = join(directory, FILES[format]);
      const unfinished = unfinishedPath(path);
      const interruption = {
        line: () => 'Interrupted: nothing was written.',
        lost: 'Nothing was written. Run the same command again.',
        remove: () => [unfinished],
      };
      await interruptible(interruption, () =>
        writingTo(path, () => writeWholeFile(path, unfinished, (file) => writeFile(file, Readable.fromWeb(exported)))),
      );
      say(path);
    });
}

interface PolicyFlags {
  readonly saveTotalLimit?: number;
  readonly metricForBestModel?: string;
  readonly lowerIsBetter?: boolean;
}

interface KeepFlags extends RemoteFlags, JsonFlag, YesFlag, PolicyFlags {
  readonly all?: boolean;
}

const withPolicy = (command: Command): Command =>
  command
    .option(
      '--save-total-limit <count>',
      'how many checkpoints to keep when a job makes one (default: all)',
      wholeNumber(1, 10_000),
    )
    .option('--metric-for-best-model <name>', 'also keep the best checkpoint by this metric, such as val/reward')
    .option(
      '--lower-is-better',
      'lower values of the metric are better; this is the default for names that end with loss',
    );

function policyOf({ saveTotalLimit, metricForBestModel, lowerIsBetter }: PolicyFlags): SavePolicy | null {
  if (saveTotalLimit === undefined) {
    if (metricForBestModel === undefined && !lowerIsBetter) return null;
    throw new UsageError('Say how many checkpoints to keep with --save-total-limit.');
  }
  return {
    save_total_limit: saveTotalLimit,
    ...(metricForBestModel === undefined ? {} : { metric_for_best_model: metricForBestModel }),
    ...(lowerIsBetter ? { greater_is_better: false } : {}),
  };
}

function describePolicy({ save_total_limit: limit, metric_for_best_model: metric }: SavePolicy, of = ''): string {
  const newest = `${limit === 1 ? 'the newest checkpoint' : `${limit} checkpoints`}${of}`;
  if (!metric) return newest;
  return limit === 1 ? `${newest} and the best by ${metric}` : `${newest}, including the best by ${metric}`;
}

interface CreateFlags extends RemoteFlags, JsonFlag, PolicyFlags {
  readonly baseModel?: string;
  readonly from?: string;
  readonly loraRank?: number;
  readonly loraAlpha?: number;
  readonly loraTargets?: readonly string[];
  readonly rslora?: boolean;
  readonly loraSeed?: number;
}

const namesIn = (text: string): readonly string[] => text.split(',').map((name) => name.trim());

/** Without flags the server decides. */
function loraOf({ loraRank, loraAlpha, loraTargets, rslora, loraSeed }: CreateFlags): { lora?: LoraOptions } {
  const lora = {
    ...(loraRank === undefined ? {} : { r: loraRank }),
    ...(loraAlpha === undefined ? {} : { lora_alpha: loraAlpha }),
    ...(loraTargets === undefined ? {} : { target_modules: loraTargets }),
    ...(rslora === undefined ? {} : { use_rslora: rslora }),
    ...(loraSeed === undefined ? {} : { seed: loraSeed }),
  };
  return Object.keys(lora).length > 0 ? { lora } : {};
}

type MetricsFlags = RemoteFlags & JsonFlag & { readonly format: Format; readonly out?: string };

const FILES = {
  csv: 'metrics.csv',
  jsonl: 'metrics.jsonl',
  tensorboard: 'events.out.tfevents.0.whetstone', // replaced each time: TensorBoard would draw two files of a run as one curve twice
} as const;
type Format = keyof typeof FILES;
const FORMATS = Object.keys(FILES) as Format[];
