// Commands that talk to a server over HTTP: where it is, which key, and how a model is named on a command line.
import type { Command } from 'commander';
import { AppError } from '#domain/errors';
import { createClient, type Client } from '#client/client';

export interface RemoteFlags {
  readonly url?: string;
  readonly key?: string;
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export interface Remote {
  /** A command with --url and --key. */
  command(parent: Command, nameAndArguments: string): Command;
  /** Throws `invalid_api_key` where there is none. */
  connect(flags: RemoteFlags): Client;
}

export const createRemote = (defaultUrl: string): Remote => ({
  command: (parent, nameAndArguments) =>
    parent
      .command(nameAndArguments)
      .option('--url <url>', `the server (default ${defaultUrl}, env WHETSTONE_URL)`)
      .option('--key <key>', 'API key (env WHETSTONE_API_KEY)'),
  connect({ url, key }) {
    const apiKey = key ?? process.env.WHETSTONE_API_KEY;
    if (!apiKey) throw new AppError('invalid_api_key', 'No API key: set WHETSTONE_API_KEY or pass --key.');
    return createClient({ baseUrl: url ?? process.env.WHETSTONE_URL ?? defaultUrl, apiKey });
  },
});

/** By `project/name`, `entity/project/name` or an id. */
export async function findModel(client: Client, name: string) {
  const [project, model] = name.split('/').slice(-2);
  if (model === undefined) return client.getModel(name);
  for await (const found of client.listModels({ project: project!, name: model })) return found;
  throw new AppError('model_not_found', `No model ${name}. \`whetstone models\` lists what there is.`);
}

/** `project/name[:version]` or `entity/project/name[:version]` → the latter; `~` is the key's own entity. */
export function artifactName(name: string): string {
  const parts = name.split('/');
  if (parts.length === 3) return name;
  if (parts.length === 2) return `~/${name}`;
  throw new AppError('invalid_request', `Name the artifact project/name or entity/project/name, not "${name}".`);
}
