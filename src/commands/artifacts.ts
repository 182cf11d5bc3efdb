// `whetstone artifacts`: uploads, downloads, lists and deletes artifacts.
import { Option, type Command } from 'commander';
import { counted } from '#base/counted';
import { pullArtifact, pushArtifact } from '#client/artifact-files';
import type { Artifact } from '#client/client';
import { ARTIFACT_SORTS, type ArtifactSort } from '#domain/artifact';
import { safeName } from './file-name.ts';
import { GOES_ON, interruptible } from './interrupt.ts';
import { showBytes } from './download-progress.ts';
import { AGAIN, sayLost, TRANSFER_RETRIES } from './lost-server.ts';
import { bytesText } from './progress.ts';
import { all, confirm, show, table, withJson, withYes, type JsonFlag, type YesFlag } from './output.ts';
import { ago } from './times.ts';
import { artifactName, type Remote, type RemoteFlags } from './remote.ts';
import { writeError } from './terminal.ts';

interface ListFlags extends RemoteFlags, JsonFlag {
  readonly sort: ArtifactSort;
  readonly desc?: boolean;
}

interface PushFlags extends RemoteFlags, JsonFlag {
  readonly type: string;
  readonly alias: readonly string[];
}

/** Prints one line per file, and a progress bar in between. */
function telling() {
  const { onDone, end } = showBytes();
  const onFile = (path: string, state: string): void => {
    end();
    writeError(`${state.padEnd(7)}  ${path}\n`);
  };
  return { options: { onFile, onBytes: onDone, onConnection: sayLost(end, TRANSFER_RETRIES) }, end };
}

const NOT_PUSHED = {
  line: () => `Interrupted: no version was created. ${AGAIN}`,
  lost: `The server has no incomplete version. ${AGAIN}`,
};

/** A key sees only the artifacts of its own entity. */
const versionName = ({ project, name, version }: Pick<Artifact, 'project' | 'name' | 'version'>): string =>
  `${project}/${name}:${version}`;

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

export function addArtifacts(program: Command, remote: Remote): void {
  const artifacts = program
    .command('artifacts')
    .description('upload and download versions of files, such as training data');

  withJson(remote.command(artifacts, 'push <name> <path>'))
    .description(
      'store a file or a directory as the next version; <name> is project/name. Files that the server already has are not sent again',
    )
    .option('--type <name>', 'type of the artifact: dataset, lora or your own', 'dataset')
    .option('--alias <name>', 'another name for this version; may be repeated', collect, [])
    .action(async (name: string, path: string, { type, alias, ...flags }: PushFlags) => {
      const { options, end } = telling();
      const about = { type, aliases: alias, ...options };
      const client = remote.connect(flags);
      const made = await interruptible(NOT_PUSHED, () => pushArtifact(client, artifactName(name), path, about)).finally(
        end,
      );
      show(flags, made, (version) => [versionName(version)]);
    });

  withJson(remote.command(artifacts, 'pull <name> [directory]'))
    .description(
      'download a version; <name> is project/name with :vN or :alias (default: the latest), or a model with :stepN',
    )
    .action(async (name: string, directory: string | undefined, flags: RemoteFlags & JsonFlag) => {
      const target = directory ?? safeName(name.split('/').at(-1)!.replace(':', '-'));
      const { options, end } = telling();
      const client = remote.connect(flags);
      const pulled = await interruptible(GOES_ON, () =>
        pullArtifact(client, artifactName(name), target, options),
      ).finally(end);
      show(flags, { ...pulled, directory: target }, (version) => [`${target}  ${versionName(version)}`]);
    });

  withJson(remote.command(artifacts, 'ls [project]'))
    .alias('list')
    .description('list the versions of all artifacts, or of those of a project')
    .addOption(new Option('--sort <what>', 'what to sort them by').choices(ARTIFACT_SORTS).default('created'))
    .option('--desc', 'the newest or largest first')
    .action(async (project: string | undefined, { sort, desc = false, ...flags }: ListFlags) => {
      const wanted = { ...(project === undefined ? {} : { project }), sort, order: desc ? 'desc' : 'asc' } as const;
      const found = await all(remote.connect(flags).listArtifacts(wanted));
      show(flags, found, (list) =>
        table(
          'No artifacts.',
          ['ARTIFACT', 'TYPE', 'FILES', 'SIZE', 'CREATED', 'ALIASES'],
          list.map(({ type, files, size_bytes: size, aliases, created_at: made, ...version }) => [
            ...[versionName(version), type, String(files.length), bytesText(size), ago(made)],
            aliases.join(' ') || '-',
          ]),
        ),
      );
    });

  withYes(withJson(remote.command(artifacts, 'rm <name>')))
    .description('delete a version, or all versions when the name has none')
    .action(async (name: string, flags: RemoteFlags & JsonFlag & YesFlag) => {
      const client = remote.connect(flags);
      await client.getArtifact(artifactName(name));
      await confirm(flags, `Delete ${name.includes(':') ? name : `all versions of ${name}`}?`);
      const deleted = await client.deleteArtifact(artifactName(name));
      show(flags, deleted, ({ deleted_count: count }) => [
        `deleted ${counted(count, 'version')} of ${name.split(':')[0]}`,
      ]);
    });
}
