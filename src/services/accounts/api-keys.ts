// Which key a secret belongs to, and what it allows. Secrets are shown once, when they are made; rows hold their SHA-256. An
// operator's bootstrap key is accepted as it is, without a row. Nothing is cached between requests except the time of the
// last use, so a revoked key is refused from the next request on.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#base/clock';
import { createApiKeySecret, createId } from '#base/ids';
import type { Log } from '#base/log';
import { allows, SCOPES, type ApiKey, type Scope } from '#domain/api-key';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Limits } from '#domain/limits';
import type { ApiKeyStore } from '#storage/storage';

export const DEFAULT_ENTITY = 'default';
const BOOTSTRAP_KEY_ID = 'bootstrap';
/** Scopes of a key that is made without naming any. `admin` must be named. */
export const DEFAULT_SCOPES: readonly Scope[] = ['chat', 'train', 'read'];

export interface NewApiKey {
  readonly entity: string;
  readonly name: string;
  readonly scopes?: readonly Scope[] | undefined;
  readonly limits?: Limits | undefined;
  /** The key that makes it; default: the operator, who may grant anything. */
  readonly maker?: Pick<Caller, 'scopes' | 'limits'> | undefined;
}

export interface ApiKeys {
  /** Throws `invalid_api_key`. Null: the request has no key. */
  authenticate(secret: string | null): Promise<Caller>;
  /**
   * Throws `invalid_request` for an invalid entity name, `missing_scope` for a scope that the creator lacks, and `beyond_own_limits`
   * for a creator with limits: limits apply to each key separately, so its keys together could exceed any limit.
   */
  create(key: NewApiKey): Promise<{ key: ApiKey; secret: string }>;
  /** The key, found again by its id, with the secret for signing its links. Returns null if it was revoked. */
  findSigner(entity: string, keyId: string): Promise<{ readonly caller: Caller; readonly secret: Buffer } | null>;
  /** Oldest first. Null: keys of every entity. */
  list(entity: string | null): Promise<readonly ApiKey[]>;
  /** Null: whoever owns it. */
  revoke(id: string, entity: string | null): Promise<'revoked' | 'already_revoked' | 'not_found'>;
}

export interface ApiKeysDeps {
  readonly store: ApiKeyStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly bootstrapKey: string | null;
}

/** A prefix that a client (the Tinker SDK) puts before keys because it accepts only its own format. */
const FOREIGN_PREFIX = /^tml-/;
/** The time of the last use is written at most this often, since each write is an fsync. */
const TOUCH_MS = 60_000;

export function createApiKeys({ store, clock, log, bootstrapKey }: ApiKeysDeps): ApiKeys {
  const bootstrapHash = bootstrapKey === null ? null : sha256(bootstrapKey.replace(FOREIGN_PREFIX, ''));
  const bootstrap: Caller = { entity: DEFAULT_ENTITY, keyId: BOOTSTRAP_KEY_ID, scopes: SCOPES, limits: {} };

  function touch({ id, lastUsedAtMs }: ApiKey): void {
    const nowMs = clock.now();
    if (lastUsedAtMs !== null && nowMs - lastUsedAtMs < TOUCH_MS) return;
    void store.touch(id, nowMs).catch((err: unknown) => log.warn('api_key.not_touched', { keyId: id, err }));
  }

  return {
    async authenticate(secret) {
      if (secret === null) {
        throw new AppError(
          'invalid_api_key',
          'Send an API key in the Authorization header: Bearer wk-…. Make one with `whetstone keys create`.',
        );
      }
      const hash = sha256(secret.replace(FOREIGN_PREFIX, ''));
      if (bootstrapHash && timingSafeEqual(hash, bootstrapHash)) return bootstrap;
      // The lookup compares hashes, so its duration reveals nothing about the secret.
      const key = await store.findByHash(hash.toString('hex'));
      if (key && key.revokedAtMs === null && timingSafeEqual(hash, Buffer.from(key.secretHash, 'hex'))) {
        touch(key);
        return callerOf(key);
      }
      throw new AppError('invalid_api_key', 'Incorrect or revoked API key. Make one with `whetstone keys create`.');
    },

    async create({ entity, name, scopes = DEFAULT_SCOPES, limits = {}, maker = OPERATOR }) {
      checkEntity(entity);
      checkScopes(scopes, maker.scopes);
      refuseLimited(maker.limits);
      const secret = createApiKeySecret();
      const key: ApiKey = {
        id: createId(),
        entity,
        name,
        secretHash: sha256(secret).toString('hex'),
        scopes,
        limits,
        createdAtMs: clock.now(),
        lastUsedAtMs: null,
        revokedAtMs: null,
      };
      await store.create(key);
      return { key, secret };
    },

    async findSigner(entity, keyId) {
      if (bootstrapHash && keyId === bootstrap.keyId && entity === bootstrap.entity)
        return { caller: bootstrap, secret: linkSecret(bootstrapHash) };
      const key = (await store.list(entity)).find(({ id }) => id === keyId);
      if (!key || key.revokedAtMs !== null) return null;
      return { caller: callerOf(key), secret: linkSecret(Buffer.from(key.secretHash, 'hex')) };
    },

    list: (entity) => store.list(entity),

    async revoke(id, entity) {
      if (entity !== null && !(await store.list(entity)).some((key) => key.id === id)) return 'not_found';
      return store.revoke(id, clock.now());
    },
  };
}

const callerOf = ({ entity, id, scopes, limits }: ApiKey): Caller => ({ entity, keyId: id, scopes, limits });

/** Derived from the hash, so that the hash itself is used only to look keys up. */
const linkSecret = (secretHash: Buffer): Buffer => createHmac('sha256', secretHash).update('links').digest();

const OPERATOR = { scopes: SCOPES, limits: {} };

function checkScopes(asked: readonly Scope[], own: readonly Scope[]): void {
  const missing = asked.find((scope) => !allows(own, scope));
  if (missing === undefined) return;
  throw new AppError(
    'missing_scope',
    `This key does not have the scope ${missing} and cannot give it to another key.`,
    {
      param: 'scopes',
    },
  );
}

function refuseLimited(limits: Limits): void {
  if (Object.keys(limits).length === 0) return;
  throw new AppError(
    'beyond_own_limits',
    'A key with limits cannot create other keys, because each would have its own limits. Use a key without limits, or ask the operator to create it (`whetstone keys create`).',
  );
}

/** Returns null if the name is valid. */
export function entityFault(entity: string): string | null {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(entity)) return null;
  return `An entity is 1 to 64 letters, digits, dots, dashes or underscores, not "${entity}".`;
}

function checkEntity(entity: string): void {
  const fault = entityFault(entity);
  if (fault !== null) throw new AppError('invalid_request', fault);
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
