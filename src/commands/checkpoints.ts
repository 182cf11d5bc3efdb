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
import { AppError } from '#domain/errors';
import { findModel, say, type Remote, type RemoteFlags } from './remote.ts';

interface ExportFlags extends RemoteFlags {
  readonly out?: string;
  readonly merged?: boolean;
  readonly dtype: 'bf16' | 'f16' | 'f32';
  readonly base?: string;
}

const DTYPES = { bf16: 'BF16', f16: 'F16', f32: 'F32' } as const;

export function addCheckpoints(program: Command, remote: Remote, starterDirectory: string): void {
  const checkpoints = program.command('checkpoints').description('list, download and export the steps of a model');

  remote
    .command(checkpoints, 'list <model>')
    .description('steps and their metrics; <model> is project/name or a model id')
    .action(async (name: string, flags: RemoteFlags) => {
      const client = remote.connect(flags);
      for await (const { step, metrics } of client.listCheckpoints((await findModel(client, name)).id)) {
        const shown = Object.entries(metrics).map(([metric, value]) => `${metric}=${Number(value.toPrecision(5))}`);
        say(`${String(step).padStart(6)}  ${shown.join('  ')}`);
      }
    });

  remote
    .command(checkpoints, 'download <model> [step]')
    .description('save the adapter as a tar (PEFT directory); step is a number or latest')
    .option('--out <file>', 'default: <name>-step<step>.tar')
    .action(async (name: string, step: string | undefined, flags: RemoteFlags & { out?: string }) => {
      const client = remote.connect(flags);
      const { id } = await findModel(client, name);
      const chosen = step === undefined || step === 'latest' ? 'latest' : Number(step);
      const out = flags.out ?? `${name.split('/').at(-1)}-${chosen === 'latest' ? 'latest' : `step${chosen}`}.tar`;
      const content = await client.downloadCheckpoint(id, chosen);
      await pipeline(Readable.fromWeb(content), createWriteStream(out));
      say(out);
    });

  remote
    .command(checkpoints, 'export <model> [step]')
    .description('write a checkpoint as a directory: PEFT, or with --merged a whole model in Hugging Face layout')
    .option('--out <directory>', 'default: <name>-step<step>')
    .option('--merged', 'fold the adapter into the weights of the base model, which must be on this machine')
    .addOption(new Option('--dtype <name>', 'of merged weights').choices(Object.keys(DTYPES)).default('bf16'))
    .option('--base <model>', 'base model for --merged: starter, a directory or a Hub id (default: the model’s own)')
    .action(async (name: string, step: string | undefined, flags: ExportFlags) => {
      const client = remote.connect(flags);
      const model = await findModel(client, name);
      const version = step === undefined || step === 'latest' ? 'latest' : `step${step}`;
      const artifact = `${model.entity}/${model.project}/${model.name}:${version}`;
      const { version: fixed } = await client.getArtifact(artifact);
      const out = flags.out ?? `${model.name}-${fixed}`;
      if ((await readdir(out).catch(() => [])).length > 0)
        throw new AppError('invalid_request', `${out} is not empty. Name another directory with --out.`);
      if (!flags.merged) {
        await pullArtifact(client, artifact.replace(/:[^:]*$/, `:${fixed}`), out);
        return say(out);
      }
      const adapter = await mkdtemp(join(tmpdir(), 'whetstone-export-'));
      try {
        await pullArtifact(client, artifact.replace(/:[^:]*$/, `:${fixed}`), adapter);
        const base = await findBase(flags.base ?? model.base_model, starterDirectory);
        const { exportMerged } = await import('#engine/onnx/learning/export-merged');
        await exportMerged({ base, adapter, out, dtype: DTYPES[flags.dtype] });
        say(out);
      } finally {
        await rm(adapter, { recursive: true, force: true });
      }
    });
}

async function findBase(name: string, starterDirectory: string): Promise<string> {
  const { resolveModelDirectory } = await import('#engine/onnx/weights/resolve-model');
  const { HF_HOME: hfHome, HF_TOKEN: hfToken, HF_ENDPOINT: hfEndpoint } = process.env;
  const signal = AbortSignal.timeout(3_600_000);
  return (await resolveModelDirectory(name, { starterDirectory, hfHome, hfToken, hfEndpoint, log: silentLog, signal }))
    .directory;
}
