// `whetstone models`
import type { Command } from 'commander';
import { AppError } from '#domain/errors';
import { say, type Remote, type RemoteFlags } from './remote.ts';

export function addModels(program: Command, remote: Remote): void {
  const models = remote
    .command(program, 'models')
    .description('list what a chat request can name as its model')
    .action(async (flags: RemoteFlags) => {
      for (const { id } of await remote.connect(flags).listCallableModels()) say(id);
    });

  remote
    .command(models, 'create <model>')
    .description('register a model to train; <model> is project/name')
    .option('--base-model <id>', 'default: the first that the server hosts')
    .option('--from <checkpoint>', 'fork: start from a copy of this checkpoint, entity/project/name@step')
    .action(async (name: string, flags: RemoteFlags & { baseModel?: string; from?: string }) => {
      const client = remote.connect(flags);
      const [project, model] = name.split('/');
      if (!project || !model) throw new AppError('invalid_request', `Name the model project/name, not "${name}".`);
      const { id } = await client.registerModel({
        project,
        name: model,
        base_model: flags.baseModel ?? (await client.listBaseModels())[0]!,
        from_checkpoint: flags.from ?? null,
        return_existing: false,
      });
      say(id);
    });
}
