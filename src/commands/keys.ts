// `whetstone keys` and `whetstone limits`: who may call a server and how much each may use, in its data directory or
// database. The server may be running; what is changed here counts from the next request on (limits: from the next second).
import type { Command } from 'commander';
import { SCOPES, type ApiKey, type Scope } from '#domain/api-key';
import { AppError, UsageError } from '#domain/errors';
import { LIMIT_NAMES, type LimitName, type Limits } from '#domain/limits';
import { DEFAULT_SCOPES, entityFault } from '#services/accounts/api-keys';
import type { Keyring, Local } from './local.ts';
import { confirm, show, withJson, withYes, type JsonFlag, type YesFlag } from './output.ts';

const OPTION: Readonly<Record<LimitName, { flag: string; help: string }>> = {
  requestsInFlight: { flag: '--requests-in-flight <number>', help: 'requests that one server answers at a time' },
  queuedJobs: { flag: '--queued-jobs <number>', help: 'training jobs that wait' },
  storedBytes: { flag: '--stored-bytes <number>', help: 'adapters, artifacts and job data' },
  tokensPerDay: { flag: '--tokens-per-day <number>', help: 'of chat requests, prompts and completions, by UTC days' },
};

type LimitFlags = Readonly<Partial<Record<LimitName, string>>>;

export function addKeys(program: Command, { dataOption, openKeyring, openExistingKeyring }: Local): void {
  const keys = program
    .command('keys')
    .description('create, list and revoke API keys in the data directory of a server');

  withLimits(withJson(keys.command('create')).description('create a key and print it once'))
    .option('--entity <name>', 'whose models and jobs the key sees', 'default')
    .option('--name <text>', 'a label for the list', 'cli')
    .option(
      '--scopes <list>',
      `any of ${SCOPES.join(', ')}; train includes read; admin includes chat, train and read`,
      DEFAULT_SCOPES.join(','),
    )
    .addOption(dataOption())
    .action(async ({ entity, name, scopes, data, json = false, ...limits }: CreateFlags) => {
      refuseEntity(entity);
      const key = { entity, name, scopes: readScopes(scopes), limits: readLimits(limits) };
      await using(openKeyring(data), async ({ apiKeys }) => {
        const { key: made, secret } = await apiKeys.create(key);
        show({ json }, { ...forMachines(made), key: secret }, () => [secret]);
      });
    });

  withJson(keys.command('list'))
    .description('list keys')
    .option('--entity <name>', 'only of this entity')
    .addOption(dataOption())
    .action(async ({ entity, data, ...flags }: JsonFlag & { entity?: string; data?: string }) => {
      await using(openExistingKeyring(data), async ({ apiKeys }) => {
        const found = await apiKeys.list(entity ?? null);
        show(flags, found.map(forMachines), () => found.map(lineOfKey));
      });
    });

  withYes(withJson(keys.command('revoke <id>')))
    .description('revoke a key at once; the id is in `keys list`')
    .addOption(dataOption())
    .action(async (id: string, { data, ...flags }: JsonFlag & YesFlag & { data?: string }) => {
      await confirm(flags, `Revoke key ${id}? Whoever uses it is refused from now on.`);
      await using(openExistingKeyring(data), async ({ apiKeys }) => {
        const outcome = await apiKeys.revoke(id, null);
        if (outcome === 'not_found')
          throw new AppError('not_found', `No key ${id}. \`whetstone keys list\` shows them.`);
        show(flags, { id, outcome }, () => [outcome === 'revoked' ? `revoked ${id}` : `${id} was revoked before`]);
      });
    });
}

export function addLimits(program: Command, { dataOption, openKeyring, openExistingKeyring }: Local): void {
  const limits = program.command('limits').description('how much an entity may use, over all its keys');

  withLimits(
    withJson(limits.command('set <entity>')).description(
      'set the limits of an entity; limits that are not given are removed',
    ),
  )
    .addOption(dataOption())
    .action(async (entity: string, { data, json = false, ...flags }: LimitFlags & JsonFlag & { data?: string }) => {
      refuseEntity(entity);
      const values = readLimits(flags);
      await using(openKeyring(data), ({ accounts }) => accounts.setLimits(entity, values));
      show({ json }, { entity, limits: values }, lineOfLimits);
    });

  withJson(limits.command('list'))
    .description('list entities that have limits')
    .addOption(dataOption())
    .action(async ({ data, ...flags }: JsonFlag & { data?: string }) => {
      await using(openExistingKeyring(data), async ({ accounts }) => {
        show(flags, await accounts.listLimits(), (list) => list.flatMap(lineOfLimits));
      });
    });
}

interface CreateFlags extends LimitFlags, JsonFlag {
  readonly entity: string;
  readonly name: string;
  readonly scopes: string;
  readonly data?: string;
}

const withLimits = (command: Command): Command =>
  LIMIT_NAMES.reduce((made, name) => made.option(OPTION[name].flag, `limit: ${OPTION[name].help}`), command);

function refuseEntity(entity: string): void {
  const fault = entityFault(entity);
  if (fault !== null) throw new UsageError(fault);
}

function readScopes(text: string): Scope[] {
  return text.split(/[\s,]+/).map((word) => {
    const scope = SCOPES.find((known) => known === word);
    if (scope) return scope;
    throw new UsageError(`Scopes are a list of ${SCOPES.join(', ')}, not "${text}".`);
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

const lineOfLimits = ({ entity, limits }: { readonly entity: string; readonly limits: Limits }): string[] => [
  [entity, ...describeLimits(limits)].join('  '),
];

function lineOfKey(key: ApiKey): string {
  const parts = [
    key.id,
    key.entity,
    key.name,
    key.scopes.join(','),
    `made ${at(key.createdAtMs)}`,
    key.lastUsedAtMs === null ? 'never used' : `used ${at(key.lastUsedAtMs)}`,
    ...(key.revokedAtMs === null ? [] : [`revoked ${at(key.revokedAtMs)}`]),
    ...describeLimits(key.limits),
  ];
  return parts.join('  ');
}

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
