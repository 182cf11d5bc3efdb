// `whetstone keys` and `whetstone limits`: who may call a server and how much each may use, in its data directory or
// database. The server may be running; what is changed here counts from the next request on (limits: from the next second).
import type { Command } from 'commander';
import { SCOPES, type Scope } from '#domain/api-key';
import { AppError } from '#domain/errors';
import { LIMIT_NAMES, type LimitName, type Limits } from '#domain/limits';
import { checkEntity, DEFAULT_SCOPES } from '#services/api-keys';
import type { Keyring, Local } from './local.ts';
import { say } from './remote.ts';

const OPTION: Readonly<Record<LimitName, { flag: string; help: string }>> = {
  requestsInFlight: { flag: '--requests-in-flight <number>', help: 'requests that one server answers at a time' },
  queuedJobs: { flag: '--queued-jobs <number>', help: 'training jobs that wait' },
  storedBytes: { flag: '--stored-bytes <number>', help: 'adapters, artifacts and job data' },
  tokensPerDay: { flag: '--tokens-per-day <number>', help: 'of chat requests, prompts and completions, by UTC days' },
};

type LimitFlags = Readonly<Partial<Record<LimitName, string>>>;

export function addKeys(program: Command, { dataOption, openKeyring }: Local): void {
  const keys = program.command('keys').description('make and revoke API keys, in the data directory of a server');

  withLimits(keys.command('create').description('make a key and print it; it is shown only now'))
    .option('--entity <name>', 'whose models and jobs the key sees', 'default')
    .option('--name <text>', 'to recognise it in the list', 'cli')
    .option('--scopes <list>', `of ${SCOPES.join(', ')}; train includes read, admin all`, DEFAULT_SCOPES.join(','))
    .option(...dataOption)
    .action(async ({ entity, name, scopes, data, ...limits }: CreateFlags) => {
      const key = { entity, name, scopes: readScopes(scopes), limits: readLimits(limits) };
      await using(openKeyring(data), async ({ apiKeys }) => say((await apiKeys.create(key)).secret));
    });

  keys
    .command('list')
    .description('list keys')
    .option('--entity <name>', 'only of this entity')
    .option(...dataOption)
    .action(async ({ entity, data }: { entity?: string; data?: string }) => {
      await using(openKeyring(data), async ({ apiKeys }) => {
        for (const key of await apiKeys.list(entity ?? null)) {
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
          say(parts.join('  '));
        }
      });
    });

  keys
    .command('revoke <id>')
    .description('revoke a key at once; the id is in `keys list`')
    .option(...dataOption)
    .action(async (id: string, { data }: { data?: string }) => {
      await using(openKeyring(data), async ({ apiKeys }) => {
        const outcome = await apiKeys.revoke(id, null);
        if (outcome === 'not_found')
          throw new AppError('not_found', `No key ${id}. \`whetstone keys list\` shows them.`);
        say(outcome === 'revoked' ? `revoked ${id}` : `${id} was revoked before`);
      });
    });
}

export function addLimits(program: Command, { dataOption, openKeyring }: Local): void {
  const limits = program.command('limits').description('how much an entity may use, with all its keys');

  withLimits(limits.command('set <entity>').description('limit an entity; what is not named is not limited any more'))
    .option(...dataOption)
    .action(async (entity: string, { data, ...flags }: LimitFlags & { data?: string }) => {
      checkEntity(entity);
      const values = readLimits(flags);
      await using(openKeyring(data), ({ accounts }) => accounts.setLimits(entity, values));
      say([entity, ...describeLimits(values)].join('  '));
    });

  limits
    .command('list')
    .description('list entities that have limits')
    .option(...dataOption)
    .action(async ({ data }: { data?: string }) => {
      await using(openKeyring(data), async ({ accounts }) => {
        for (const each of await accounts.listLimits()) say([each.entity, ...describeLimits(each.limits)].join('  '));
      });
    });
}

interface CreateFlags extends LimitFlags {
  readonly entity: string;
  readonly name: string;
  readonly scopes: string;
  readonly data?: string;
}

const withLimits = (command: Command): Command =>
  LIMIT_NAMES.reduce((made, name) => made.option(OPTION[name].flag, `limit: ${OPTION[name].help}`), command);

function readScopes(text: string): Scope[] {
  return text.split(/[\s,]+/).map((word) => {
    const scope = SCOPES.find((known) => known === word);
    if (scope) return scope;
    throw new AppError('invalid_request', `Scopes are a list of ${SCOPES.join(', ')}, not "${text}".`);
  });
}

function readLimits(flags: LimitFlags): Limits {
  return Object.fromEntries(
    LIMIT_NAMES.flatMap((name) => {
      const text = flags[name];
      if (text === undefined) return [];
      if (/^\d{1,15}$/.test(text)) return [[name, Number(text)]];
      throw new AppError(
        'invalid_request',
        `${OPTION[name].flag.split(' ')[0]} must be a whole number, not "${text}".`,
      );
    }),
  );
}

const describeLimits = (limits: Limits): string[] =>
  LIMIT_NAMES.flatMap((name) =>
    limits[name] === undefined ? [] : [`${OPTION[name].flag.split(' ')[0]!.slice(2)} ${limits[name]}`],
  );

const at = (ms: number): string => new Date(ms).toISOString();

async function using(opening: Promise<Keyring>, use: (keyring: Keyring) => Promise<void>): Promise<void> {
  const keyring = await opening;
  try {
    await use(keyring);
  } finally {
    await keyring.close();
  }
}
