// `whetstone checkpoints`: list, best, download, export.
import { mkdtemp, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Option, type Command } from 'commander';
import { makeDirectories } from '#base/make-directories';
import { silentLog } from '#base/log';
import { pathExists } from '#base/path-exists';
import { unfinishedPath } from '#base/whole-file';
import { downloadCheckpointTo, latestStepOf, pullArtifact } from '#client/artifact-files';
import type { Checkpoint, Client, Model } from '#client/client';
import { readHubConfig } from '#config/hub-settings';
import { AppError, UsageError } from '#domain/errors';
import { showBytes, showDownloads } from './download-progress.ts';
import { writingTo } from './full-disk.ts';
import { short } from './event-lines.ts';
import { safeName } from './file-name.ts';
import { GOES_ON, interruptible } from './interrupt.ts';
import { sayLost, TRANSFER_RETRIES } from './lost-server.ts';
import { all, show, table, withJson, type JsonFlag } from './output.ts';
import { numbersText, showProgress } from './progress.ts';
import { getModel, getWholeModel, type Remote, type RemoteFlags } from './remote.ts';
import { ago } from './times.ts';

interface ExportFlags extends RemoteFlags, JsonFlag {
  readonly out?: string;
  readonly merged?: boolean;
  readonly format: 'hf' | 'gguf';
  readonly dtype: keyof typeof DTYPES;
  readonly base?: string;
}

const DTYPES = { bf16: 'BF16', f16: 'F16', f32: 'F32', q8_0: 'Q8_0' } as const;

export function addCheckpoints(program: Command, remote: Remote, starterDirectory: string): void {
  const checkpoints = program
    .command('checkpoints')
    .description('list, download and export the checkpoints of a model, and find the best one');

  withJson(remote.command(checkpoints, 'list <model>'))
    .alias('ls')
    .description('list the steps of a model with their rewards and losses; <model> is project/name or a model id')
    .option('--verbose', 'print all metrics of each step')
    .action(async (name: string, flags: RemoteFlags & JsonFlag & { verbose?: boolean }) => {
      const client = remote.connect(flags);
      const model = await getWholeModel(client, name);
      const found = await all(client.listCheckpoints(model.id));
      show(flags, found, (list) => linesOfCheckpoints(model, list, flags.verbose ? () => true : isMainMetric));
    });

  withJson(remote.command(checkpoints, 'best <model>'))
    .description('print the name of the checkpoint with the best value of a metric')
    .option('--metric <name>', 'metric to compare by, such as val/reward, val/loss or train/reward', 'val/reward')
    .option('--lower-is-better', 'the lowest value is the best, as for a loss')
    .action(async (name: string, flags: RemoteFlags & JsonFlag & { metric: string; lowerIsBetter?: boolean }) => {
      const client = remote.connect(flags);
      const model = await getWholeModel(client, name);
      const greaterIsBetter = !flags.lowerIsBetter;
      const best = await client.bestCheckpoint(model.id, flags.metric, { greaterIsBetter });
      if (!best) {
        const message = `No checkpoint of ${name} has the metric ${flags.metric}. \`whetstone checkpoints list --verbose ${name}\` shows all metrics.`;
        throw new AppError('not_found', message);
      }
      const checkpoint = `${model.project}/${model.name}:step${best.step}`;
      show(flags, { name: checkpoint, step: best.step, metric: flags.metric, value: best.value }, () => [checkpoint]);
    });

  withJson(remote.command(checkpoints, 'download <model> [step]'))
    .description(
      'save an adapter as a tar of a PEFT directory; the step is a number or latest (the default), or part of the name: project/name:step3',
    )
    .option('--out <file>', 'file to write (default: <name>-step<step>.tar)')
    .action(async (name: string, step: string | undefined, flags: RemoteFlags & JsonFlag & { out?: string }) => {
      const client = remote.connect(flags);
      const { model, step: chosen } = await getStep(client, name, step);
      const at = chosen ?? (await latestStepOf(client, model.id)); // a job may end before the download
      const out = flags.out ?? `${safeName(`${model.name}-${at === 'latest' ? at : `step${at}`}`)}.tar`;
      const { onDone, end } = showBytes();
      await interruptible(GOES_ON, () =>
        downloadCheckpointTo(client, model.id, at, out, {
          onBytes: onDone,
          onConnection: sayLost(end, TRANSFER_RETRIES),
        }),
      ).finally(end);
      show(flags, { out }, () => [out]);
    });

  withJson(remote.command(checkpoints, 'export <model> [step]'))
    .description(
      'write a checkpoint as a PEFT directory, as a whole model in Hugging Face layout (--merged), or as a GGUF file for llama.cpp (--format gguf)',
    )
    .option('--out <path>', 'path to write (default: <name>-step<step>, with --format gguf <name>-step<step>.gguf)')
    .option('--merged', 'merge the adapter into the weights of the base model, which must be on this machine')
    .addOption(
      new Option(
        '--format <name>',
        'hf: for PEFT and Transformers; gguf: one file for llama.cpp, of the whole model with --merged, else of the adapter in float32',
      )
        .choices(['hf', 'gguf'])
        .default('hf'),
    )
    .addOption(
      new Option('--dtype <name>', 'number format of the merged weights; q8_0 needs --format gguf')
        .choices(Object.keys(DTYPES))
        .default('bf16'),
    )
    .option(
      '--base <model>',
      'base model of the adapter: starter, a directory, a GGUF file or a Hub id (default: the model’s own, where the server on this machine has it, else by its name)',
    )
    .action(async (name: string, step: string | undefined, flags: ExportFlags, command: Command) => {
      const gguf = flags.format === 'gguf';
      if (flags.dtype === 'q8_0' && !gguf) throw new UsageError('--dtype q8_0 needs --format gguf.');
      if (!flags.merged && command.getOptionValueSource('dtype') === 'cli')
        throw new UsageError('--dtype is the number format of merged weights: add --merged, or leave it out.');
      const client = remote.connect(flags);
      const { model, step: chosen } = await getStep(client, name, step);
      const named = `${model.entity}/${model.project}/${model.name}:${chosen === null ? 'latest' : `step${chosen}`}`;
      const { version: fixed } = await client.getArtifact(named);
      const out = flags.out ?? `${safeName(`${model.name}-${fixed}`)}${gguf ? '.gguf' : ''}`;
      const isPeft = !flags.merged && !gguf;
      await refuseTaken(out, isPeft);
      const adapter = await (isPeft ? makeUnfinished(out) : mkdtemp(join(tmpdir(), 'whetstone-export-')));
      const interruption = {
        line: () => 'Interrupted: nothing was exported.',
        lost: 'Nothing was exported. Run the same command again.',
        remove: () => [adapter, unfinishedPath(out)],
      };
      const exportTo = async () => {
        await pull(client, `${model.entity}/${model.project}/${model.name}:${fixed}`, adapter);
        const hosted = flags.base === undefined ? remote.findModel(model.base_model) : null;
        if (isPeft) {
          await nameBase(adapter, flags.base === 'starter' ? starterDirectory : flags.base, hosted);
          return finish(adapter, out);
        }
        const named = flags.base ?? model.base_model;
        const base =
          hosted ??
          (await getBase(named, starterDirectory, join(adapter, 'gguf')).catch((error: unknown) => {
            throw flags.base === undefined ? withoutBase(error, model.base_model) : error;
          }));
        await write({ base, adapter, out, name: `${model.name}-${fixed}` }, flags);
      };
      try {
        await interruptible(interruption, () => writingTo(out, exportTo));
      } finally {
        await rm(adapter, { recursive: true, force: true });
      }
      show(flags, { out }, () => [out]);
    });
}

/** What a checkpoint is chosen by. */
const isMainMetric = (name: string): boolean => /^[^/]+\/(reward|loss)$/.test(name);

/** A column for each metric that a step has. */
function linesOfCheckpoints(
  { project, name }: Model,
  list: readonly Checkpoint[],
  isShown: (metric: string) => boolean,
): string[] {
  const metrics = [...new Set(list.flatMap((each) => Object.keys(each.metrics)))].filter(isShown);
  const rows = list.map(({ step, created_at: made, metrics: values }) => [
    ...[`${project}/${name}:step${step}`, ago(made)],
    ...metrics.map((metric) => (values[metric] === undefined ? '-' : short(values[metric]))),
  ]);
  return table('No checkpoints: all were deleted.', ['CHECKPOINT', 'CREATED', ...metrics], rows);
}

/** Checked before anything is downloaded. A PEFT directory may replace an empty one. */
async function refuseTaken(out: string, isPeft: boolean): Promise<void> {
  const files = await readdir(out).catch(() => null);
  if (isPeft && files?.length === 0) return;
  const state = isPeft && files !== null ? 'is not empty' : 'already exists';
  if (await pathExists(out)) throw new AppError('invalid_request', `${out} ${state}. Choose another path with --out.`);
}

async function makeUnfinished(out: string): Promise<string> {
  const directory = unfinishedPath(out);
  await rm(directory, { recursive: true, force: true });
  await makeDirectories(directory);
  return directory;
}

/**
 * Names a base that PEFT can load in the adapter's config: what --base says, else the directory of the local server's model if it has
 * weights in Hugging Face's format. The id of a model on the Hub stays, because it can be loaded on other machines too.
 */
async function nameBase(adapter: string, asked: string | undefined, hosted: string | null): Promise<void> {
  const [{ ADAPTER_CONFIG_FILE }, { isOnHub }] = await Promise.all([
    import('#model-files/peft-directory'),
    import('#model-files/resolve-model'),
  ]);
  const path = join(adapter, ADAPTER_CONFIG_FILE);
  const config = JSON.parse(await readFile(path, 'utf8')) as { base_model_name_or_path: string };
  if (asked === undefined && (isOnHub(config.base_model_name_or_path) || !(await hasWeights(hosted)))) return;
  const base = asked ?? hosted!;
  const named = { ...config, base_model_name_or_path: (await pathExists(base)) ? resolve(base) : base };
  await writeFile(path, `${JSON.stringify(named, null, 2)}\n`);
}

const hasWeights = async (directory: string | null): Promise<boolean> =>
  directory !== null && (await readdir(directory)).some((name) => name.endsWith('.safetensors'));

/** Moves the directory into place; replaces an empty directory, if there is one. */
async function finish(directory: string, out: string): Promise<void> {
  await rmdir(out).catch(() => {});
  await rename(directory, out);
}

async function write(
  { name, ...request }: { base: string; adapter: string; out: string; name: string },
  { format, merged = false, dtype }: ExportFlags,
): Promise<void> {
  const { onDone, end } = showProgress(undefined, undefined, numbersText);
  const onNumbers = (done: number, of: number) => onDone('writing', done, of);
  try {
    if (format === 'gguf') {
      const { exportGgufAdapter, exportGgufModel } = await import('#model-files/gguf/export-gguf');
      if (merged) await exportGgufModel({ ...request, name, onNumbers }, DTYPES[dtype]);
      else await exportGgufAdapter({ ...request, name });
    } else if (dtype !== 'q8_0') {
      const { exportMerged } = await import('#model-files/export-merged');
      await exportMerged({ ...request, dtype: DTYPES[dtype], onNumbers });
    }
  } finally {
    end();
  }
}

async function pull(client: Client, name: string, directory: string): Promise<void> {
  const { onDone, end } = showBytes();
  await pullArtifact(client, name, directory, {
    onBytes: onDone,
    onConnection: sayLost(end, TRANSFER_RETRIES),
  }).finally(end);
}

/** The step given after the model's name, or in it; null: the latest. */
async function getStep(client: Client, name: string, given: string | undefined) {
  const { model, step } = await getModel(client, name);
  if (given === undefined) return { model, step };
  if (step !== null) throw new UsageError(`${name} already names a step: leave out "${given}".`);
  if (given === 'latest') return { model, step: null };
  if (!/^\d{1,15}$/.test(given)) throw new UsageError(`The step must be a number or latest, not "${given}".`);
  return { model, step: Number(given) };
}

/** The server reports only the last part of a base model's directory or file, so the user must name all of it. */
function withoutBase(error: unknown, name: string): unknown {
  if (!(error instanceof AppError) || error.code !== 'base_model_not_found') return error;
  return new AppError(
    error.code,
    `The base model ${name} is not on this machine under that name. Name its directory, GGUF file or Hub id with --base.`,
  );
}

async function getBase(name: string, starterDirectory: string, ggufDirectory: string): Promise<string> {
  const { resolveModelDirectory } = await import('#model-files/resolve-model');
  const hub = readHubConfig(process.env);
  const signal = AbortSignal.timeout(hub.downloadMs);
  const { directory } = await resolveModelDirectory(name, {
    starterDirectory,
    ggufDirectory,
    hub,
    parts: 'everything',
    progress: showDownloads(),
    log: silentLog,
    signal,
  });
  return directory;
}
