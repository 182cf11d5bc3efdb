// Commands that call a server over HTTP: its address, the key, and names of models on the command line.
import type { Command } from 'commander';
import { isLoopback } from '#base/loopback';
import { settingOption } from '#config/describe-settings';
import { DEFAULT_URL, REMOTE_SETTINGS } from '#config/remote-settings';
import { readSettings } from '#config/setting';
import { AppError, UsageError } from '#domain/errors';
import { parseModelName } from '#domain/model-name';
import { noteName } from './wire-words.ts';
import { createClient, type Client, type Model } from '#client/client';

export interface RemoteFlags {
  readonly url?: string;
  readonly key?: string;
}

export interface Remote {
  /** Creates a command with --url and --key. */
  command(parent: Command, nameAndArguments: string): Command;
  /** Throws like `address`. */
  connect(flags: RemoteFlags): Client;
  /** Throws if the address is not a URL, and `invalid_api_key` if there is no key. */
  address(flags: RemoteFlags): { readonly url: string; readonly key: string };
  /** The last address that was used, for messages. */
  lastUrl(): string | null;
  /** Where the last server keeps a model that it hosts, if it runs on this machine; null: unknown. */
  findModel(id: string): string | null;
  /** Whether a server answered anything at all. */
  hasAnswered(): boolean;
}

const noKeyFor = (url: string): string =>
  isOnThisMachine(url)
    ? 'No API key: set WHETSTONE_API_KEY, pass --key, or run this in the directory where `whetstone serve` was started, which keeps its first key. If it was started with --data, set WHETSTONE_DATA to that directory.'
    : `No API key for ${url}: set WHETSTONE_API_KEY, or pass --key. The key in a data directory is only sent to servers on this machine.`;

const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
const isOnThisMachine = (url: string): boolean => isLoopback(new URL(url).hostname);

/** What a server on this machine keeps in its data directory; null: nothing. */
export interface LocalServer {
  readonly findUrl: () => string | null;
  readonly findKey: () => string | null;
  /** The directory of a model that it hosts. */
  readonly findModel: (id: string) => string | null;
}

const NO_SERVER: LocalServer = { findUrl: () => null, findKey: () => null, findModel: () => null };

export function createRemote({ findUrl, findKey, findModel }: LocalServer = NO_SERVER): Remote {
  let lastUrl: string | null = null;
  let hasAnswered = false;
  const fetchAndNote: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    hasAnswered = true;
    return response;
  };
  function address(flags: RemoteFlags) {
    const named = readSettings(REMOTE_SETTINGS, { url: flags.url, key: flags.key }, process.env);
    const url = named.url ?? findUrl() ?? DEFAULT_URL;
    if (!isWebAddress(url))
      throw new UsageError(
        `The server’s address must be a URL such as http://127.0.0.1:8484, not "${url}". Check --url and WHETSTONE_URL.`,
      );
    const key = named.key ?? (isOnThisMachine(url) ? findKey() : null); // the local key is not sent to other machines
    if (key === null) throw new AppError('invalid_api_key', noKeyFor(url));
    lastUrl = url;
    return { url, key };
  }
  return {
    command: (parent, nameAndArguments) =>
      parent
        .command(nameAndArguments)
        .addOption(settingOption(REMOTE_SETTINGS.url))
        .addOption(settingOption(REMOTE_SETTINGS.key)),
    address,
    lastUrl: () => lastUrl,
    findModel(id) {
      const [used, local] = [lastUrl, findUrl()];
      return used !== null && local !== null && new URL(used).origin === local ? findModel(id) : null;
    },
    hasAnswered: () => hasAnswered,
    connect(flags) {
      const { url: baseUrl, key: apiKey } = address(flags);
      return createClient({ baseUrl, apiKey, fetch: fetchAndNote });
    },
  };
}

/** Finds a model by any of its names (domain/model-name.ts) or by id. `step` is the step in the name; null: the latest. */
export async function getModel(client: Client, name: string): Promise<{ model: Model; step: number | null }> {
  const parsed = parseModelName(name);
  if (!parsed) return { model: await client.getModel(name), step: null };
  const { entity, project, name: modelName, step } = parsed;
  for await (const model of client.listModels({ project, name: modelName }))
    if (entity === null || model.entity === entity) {
      noteName(model.id, `${project}/${modelName}`);
      return { model, step };
    }
  if ((await client.listBaseModels()).includes(name))
    throw new AppError(
      'model_not_found',
      `${name} is a base model, which has no checkpoints and is never trained. Create a model over it: whetstone models create project/name --base-model ${name}`,
    );
  throw new AppError(
    'model_not_found',
    `No model ${name}. List yours with \`whetstone models list\`, or create it with \`whetstone models create\`.`,
  );
}

/** For what is about a model and not about one of its steps: a name with a step is refused. */
export async function getWholeModel(client: Client, name: string): Promise<Model> {
  const { model, step } = await getModel(client, name);
  if (step === null) return model;
  throw new UsageError(`${name} names a step. Name the model: ${model.project}/${model.name}.`);
}

/** `project/name[:version]` or `entity/project/name[:version]` → the latter; `~` is the key's own entity. */
export function artifactName(name: string): string {
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    throw new UsageError(`The artifact must be named project/name or entity/project/name, not "${name}".`);
  if (parts.length === 3) return name;
  if (parts.length === 2) return `~/${name}`;
  throw new UsageError(`The artifact must be named project/name or entity/project/name, not "${name}".`);
}
