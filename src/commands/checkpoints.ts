// `whetstone checkpoints`: list, download, export.
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import { silentLog } from '#base/log';
import { pullArtifact } from '#client/artifact-files';
import type { Client } from '#client/client';
import { readHubConfig } from '#config/hub-settings';
import { AppError } from '#domain/errors';
import { showDownloads } from './download-progress.ts';
import { all, show, withJson, type JsonFlag } from './output.ts';
import { getModel, type Remote, type RemoteFlags } from './remote.ts';

interface ExportFlags extends RemoteFlags, JsonFlag {
  readonly out?: string;
  readonly merged?: boolean;
  readonly dtype: 'bf16' | 'f16' | 'f32';
  readonly base?: string;
}

const DTYPES = { bf16: 'BF16', f16: 'F16', f32: 'F32' } as const;

export function addCheckpoints(program: Command, remote: Remote, starterDirectory: string): void {
  const checkpoints = program
    .command('checkpoints')
    .description('list, download and export the checkpoints of a model');

  withJson(remote.command(checkpoints, 'list <model>'))
    .description('steps and their metrics; <model> is a name (project/name) or a model id')
    .action(async (name: string, flags: RemoteFlags & JsonFlag) => {
      const client = remote.connect(flags);
      const found = await all(client.listCheckpoints((await getModel(client, name)).model.id));
      show(flags, found, (list) =>
        list.map(({ step, metrics }) => {
          const shown = Object.entries(metrics).map(([metric, value]) => `${metric}=${Number(value.toPrecision(5))}`);
          return `${String(step).padStart(6)}  ${shown.join('  ')}`;
        }),
      );
    });

  withJson(remote.command(checkpoints, 'download <model> [step]'))
    .description(
      'save the adapter as a tar (PEFT directory); step is a number or latest, or in the name: project/name:step3',
    )
    .option('--out <file>', 'default: <name>-step<step>.tar')
    .action(async (name: string, step: string | undefined, flags: RemoteFlags & JsonFlag & { out?: string }) => {
      const client = remote.connect(flags);
      const { model, step: chosen } = await getStep(client, name, step);
      const out = flags.out ?? `${model.name}-${chosen === null ? 'latest' : `step${chosen}`}.tar`;
      const content = await client.downloadCheckpoint(model.id, chosen ?? 'latest');
      await pipeline(Readable.fromWeb(content), createWriteStream(out));
      show(flags, { out }, () => [out]);
    });

  withJson(remote.command(checkpoints, 'export <model> [step]'))
    .description('write a checkpoint as a directory: PEFT, or with --merged a whole model in Hugging Face layout')
    .option('--out <directory>', 'default: <name>-step<step>')
    .option('--merged', 'fold the adapter into the weights of the base model, which must be on this machine')
    .addOption(new Option('--dtype <name>', 'type of the merged weights').choices(Object.keys(DTYPES)).default('bf16'))
    .option('--base <model>', 'base model for --merged: starter, a directory or a Hub id (default: the model’s own)')
    .action(async (name: string, step: string | undefined, flags: ExportFlags) => {
      const client = remote.connect(flags);
      const { model, step: chosen } = await getStep(client, name, step);
      const version = chosen === null ? 'latest' : `step${chosen}`;
      const artifact = `${model.entity}/${model.project}/${model.name}:${version}`;
      const { version: fixed } = await client.getArtifact(artifact);
      const out = flags.out ?? `${model.name}-${fixed}`;
      if ((await readdir(out).catch(() => [])).length > 0)
        throw new AppError('invalid_request', `${out} is not empty. Name another directory with --out.`);
      if (!flags.merged) {
        await pullArtifact(client, artifact.replace(/:[^:]*$/, `:${fixed}`), out);
        return show(flags, { out }, () => [out]);
      }
      const adapter = await mkdtemp(join(tmpdir(), 'whetstone-export-'));
      try {
        await pullArtifact(client, artifact.replace(/:[^:]*$/, `:${fixed}`), adapter);
        const base = await getBase(flags.base ?? model.base_model, starterDirectory);
        const { exportMerged } = await import('#model-files/export-merged');
        await exportMerged({ base, adapter, out, dtype: DTYPES[flags.dtype] });
        show(flags, { out }, () => [out]);
      } finally {
        await rm(adapter, { recursive: true, force: true });
      }
    });
}

/** The step that stands behind the name of the model, or in it; null: the latest. */
async function getStep(client: Client, name: string, given: string | undefined) {
  const { model, step } = await getModel(client, name);
  if (given === undefined) return { model, step };
  if (step !== null) throw new AppError('invalid_request', `${name} names a step; leave out "${given}".`);
  if (given === 'latest') return { model, step: null };
  if (!/^\d{1,15}$/.test(given)) throw new AppError('invalid_request', `"${given}" is no step: a number, or latest.`);
  return { model, step: Number(given) };
}

async function getBase(name: string, starterDirectory: string): Promise<string> {
  const { resolveModelDirectory } = await import('#model-files/resolve-model');
  const hub = readHubConfig(process.env);
  const signal = AbortSignal.timeout(hub.downloadMs);
  const { directory } = await resolveModelDirectory(name, {
    starterDirectory,
    hub,
    parts: 'everything',
    progress: showDownloads(),
    log: silentLog,
    signal,
  });
  return directory;
}
