// `whetstone artifacts`: push, pull, ls, rm.
import type { Command } from 'commander';
import { pullArtifact, pushArtifact } from '#client/artifact-files';
import { artifactName, say, type Remote, type RemoteFlags } from './remote.ts';

interface PushFlags extends RemoteFlags {
  readonly type: string;
  readonly alias: readonly string[];
}

const tell = (path: string, state: string): void => void process.stderr.write(`${state.padEnd(7)}  ${path}\n`);
const collect = (value: string, before: readonly string[]): string[] => [...before, value];

export function addArtifacts(program: Command, remote: Remote): void {
  const artifacts = program
    .command('artifacts')
    .description('store and fetch versions of files, such as training data');

  remote
    .command(artifacts, 'push <name> <path>')
    .description(
      'store a file or a directory as the next version; <name> is project/name. Files that are there are not sent',
    )
    .option('--type <name>', 'dataset, lora or your own', 'dataset')
    .option('--alias <name>', 'a name for this version; may be repeated', collect, [])
    .action(async (name: string, path: string, { type, alias, ...flags }: PushFlags) => {
      const options = { type, aliases: alias, onFile: tell };
      say((await pushArtifact(remote.connect(flags), artifactName(name), path, options)).uri);
    });

  remote
    .command(artifacts, 'pull <name> [directory]')
    .description('fetch a version; <name> is project/name, with :vN, :alias, or :stepN of a model')
    .action(async (name: string, directory: string | undefined, flags: RemoteFlags) => {
      const target = directory ?? name.split('/').at(-1)!.replace(':', '-');
      const { uri } = await pullArtifact(remote.connect(flags), artifactName(name), target, tell);
      say(`${target}  ${uri}`);
    });

  remote
    .command(artifacts, 'ls [project]')
    .description('list versions')
    .action(async (project: string | undefined, flags: RemoteFlags) => {
      for await (const version of remote.connect(flags).listArtifacts(project === undefined ? {} : { project })) {
        const { uri, type, files, size_bytes: size, aliases, created_at: made } = version;
        say([uri, type, `${files.length} files`, `${size} bytes`, made, ...aliases].join('  '));
      }
    });

  remote
    .command(artifacts, 'rm <name>')
    .description('delete a version; without one all versions of the name')
    .action(async (name: string, flags: RemoteFlags) => {
      const { deleted_count: count } = await remote.connect(flags).deleteArtifact(artifactName(name));
      say(`deleted ${count}`);
    });
}
