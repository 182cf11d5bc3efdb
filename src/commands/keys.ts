// `whetstone keys` and `whetstone limits`: who may call a server and how much each key may use, in its data directory or
// database. The server may be running; changes apply from the next request on (limits: from the next second).
import type { Command } from 'commander';
import { SCOPES, type ApiKey, type Scope } from '#domain/api-key';
import { AppError, UsageError } from '#domain/errors';
import { LIMIT_NAMES, type LimitName, type Limits } from '#domain/limits';
import { DEFAULT_SCOPES, entityFault } from '#services/accounts/api-keys';
import type { Keyring, Local } from './local.ts';
import { confirm, note, show, table, withJson, withYes, type JsonFlag, type YesFlag } from './output.ts';
import { ago } from './times.ts';

const OPTION: Readonly<Record<LimitName, { flag: string; help: string }>> = {
  requestsInFlight: {
    flag: '--requests-in-flight <number>',
    help: 'maximum requests that one server answers at a time',
  },
  queuedJobs: { flag: '--queued-jobs <number>', help: 'maximum training jobs that have not started' },
  storedBytes: { flag: '--stored-bytes <number>', help: 'maximum bytes of adapters, artifacts and job data' },
  tokensPerDay: {
    flag: '--tokens-per-day <number>',
    help: 'maximum tokens of chat prompts and completions per UTC day',
  },
};

type LimitFlags = Readonly<Partial<Record<LimitName, string>>>;

export function addKeys(program: Command, { dataOption, openKeyring, openExistingKeyring }: Local): void {
  const keys = program
    .command('keys')
    .description('create, list and revoke API keys, in the data directory or database of a server');

  withLimits(withJson(keys.command('create')).description('create a key and print it once'))
    .option('--entity <name>', 'entity (team) whose models and jobs the key can see', 'default')
    .option('--name <text>', 'label of the key in lists', 'cli')
    .option(
      '--scopes <list>',
      `comma-separated list of ${SCOPES.join(', ')}; train includes read; admin includes chat, train and read`,
      DEFAULT_SCOPES.join(','),
    )
    .addOption(dataOption())
    .action(async ({ entity, name, scopes, data, json = false, ...limits }: CreateFlags) => {
      refuseEntity(entity);
      const key = { entity, name, scopes: readScopes(scopes), limits: readLimits(limits) };
      await using(openKeyring(data), async ({ apiKeys }) => {
        const { key: made, secret } = await apiKeys.create(key);
        if (!json)
          note(
            `The key ${made.id} of the entity ${entity} has the ${made.scopes.length === 1 ? 'scope' : 'scopes'} ${made.scopes.join(', ')}. It is shown only now:`,
          );
        show({ json }, { ...forMachines(made), key: secret }, () => [secret]);
      });
    });

  withJson(keys.command('list'))
    .alias('ls')
    .description('list keys')
    .option('--entity <name>', 'only the keys of this entity')
    .addOption(dataOption())
    .action(async ({ entity, data, ...flags }: JsonFlag & { entity?: string; data?: string }) => {
      await using(openExistingKeyring(data), async ({ apiKeys }) => {
        const found = await apiKeys.list(entity ?? null);
        show(flags, found.map(forMachines), () => table('No keys.', KEY_HEADER, found.map(cellsOfKey)));
      });
    });

  withYes(withJson(keys.command('revoke <id>')))
    .description('revoke a key at once; `whetstone keys list` shows the ids')
    .addOption(dataOption())
    .action(async (id: string, { data, ...flags }: JsonFlag & YesFlag & { data?: string }) => {
      await using(openExistingKeyring(data), async ({ apiKeys }) => {
        const key = (await apiKeys.list(null)).find((each) => each.id === id);
        if (!key) throw new AppError('not_found', `No key ${id}. List them with \`whetstone keys list\`.`);
        await confirm(flags, `Revoke key ${id} (${key.name}) of ${key.entity}? Requests that use it will be refused.`);
        const outcome = await apiKeys.revoke(id, null);
        show(flags, { id, outcome }, () => [outcome === 'revoked' ? `revoked ${id}` : `${id} was already revoked`]);
      });
    });
}

export function addLimits(program: Command, { dataOption, openExistingKeyring }: Local): void {
  const limits = program.command('limits').description('limit how much an entity (team) may use with all its keys');

  withYes(withLimits(withJson(limits.command('set <entity>'))))
    .description('set the limits of an entity; they replace all that it had, and limits that are not given are removed')
    .addOption(dataOption())
    .action(async (entity: string, { data, json = false, yes = false, ...flags }: SetFlags) => {
      refuseEntity(entity);
      const values = readLimits(flags);
      await using(openExistingKeyring(data), async ({ accounts }) => {
        const before = describeLimits(await accounts.limitsOf(entity));
        const after = describeLimits(values);
        if (before.length > 0 && before.join() !== after.join())
          await confirm({ yes }, `Replace the limits of ${entity} (${before.join(', ')}) by ${sayLimits(after)}?`);
        await accounts.setLimits(entity, values);
      });
      show({ json }, { entity, limits: values }, (set) => [cellsOfLimits(set).join('  ')]);
    });

  withJson(limits.command('list'))
    .alias('ls')
    .description('list entities that have limits')
    .addOption(dataOption())
    .action(async ({ data, ...flags }: JsonFlag & { data?: string }) => {
      await using(openExistingKeyring(data), async ({ accounts }) => {
        show(flags, await accounts.listLimits(), (list) =>
          table('No limits.', ['ENTITY', 'LIMITS'], list.map(cellsOfLimits)),
        );
      });
    });
}

interface CreateFlags extends LimitFlags, JsonFlag {
  readonly entity: string;
  readonly name: string;
  readonly scopes: string;
  readonly data?: string;
}

type SetFlags = LimitFlags & JsonFlag & YesFlag & { readonly data?: string };

const withLimits = (command: Command): Command =>
  LIMIT_NAMES.reduce(
    (made, name) => made.option(OPTION[name].flag, `${OPTION[name].help} (default: unlimited)`),
    command,
  );

function refuseEntity(entity: string): void {
  const fault = entityFault(entity);
  if (fault !== null) throw new UsageError(fault);
}

function readScopes(text: string): Scope[] {
  return text.split(/[\s,]+/).map((word) => {
    const scope = SCOPES.find((known) => known === word);
    if (scope) return scope;
    throw new UsageError(`--scopes must be a comma-separated list of ${SCOPES.join(', ')}, not "${text}".`);
  });
}

function readLimits(flags: LimitFlags): Limits {
  return Object.fromEntries(
    LIMIT_NAMES.flatMap((name) => {
      const text = flags[name];
      if (text === undefined) return [];
      if (/^\d{1,15}$/.test(text)) return [[name, Number(text)]];
      throw new UsageError(`${OPTION[name].flag.split(' ')[0]} must be a whole number, not "${text}".`);
    }),
  );
}

const describeLimits = (limits: Limits): string[] =>
  LIMIT_NAMES.flatMap((name) =>
    limits[name] === undefined ? [] : [`${OPTION[name].flag.split(' ')[0]!.slice(2)} ${limits[name]}`],
  );

const sayLimits = (described: readonly string[]): string => described.join(', ') || 'no limits';

const cellsOfLimits = ({ entity, limits }: { readonly entity: string; readonly limits: Limits }): string[] => [
  entity,
  sayLimits(describeLimits(limits)),
];

const KEY_HEADER = ['ID', 'ENTITY', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'REVOKED', 'LIMITS'];

const cellsOfKey = (key: ApiKey): string[] => [
  ...[key.id, key.entity, key.name, key.scopes.join(',')],
  ago(at(key.createdAtMs)),
  key.lastUsedAtMs === null ? 'never' : ago(at(key.lastUsedAtMs)),
  key.revokedAtMs === null ? '-' : ago(at(key.revokedAtMs)),
  describeLimits(key.limits).join(', ') || '-',
];

const forMachines = ({ id, entity, name, scopes, limits, createdAtMs, lastUsedAtMs, revokedAtMs }: ApiKey) => ({
  id,
  entity,
  name,
  scopes,
  limits,
  created_at: at(createdAtMs),
  last_used_at: lastUsedAtMs === null ? null : at(lastUsedAtMs),
  revoked_at: revokedAtMs === null ? null : at(revokedAtMs),
});

const at = (ms: number): string => new Date(ms).toISOString();

async function using(opening: Promise<Keyring>, use: (keyring: Keyring) => Promise<void>): Promise<void> {
  const keyring = await opening;
  try {
    await use(keyring);
  } finally {
    await keyring.close();
  }
}
