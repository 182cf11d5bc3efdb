// Who a secret belongs to. Secrets are shown once, when they are made; rows hold their SHA-256. An operator's bootstrap
// key is accepted as it is, without a row.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#base/clock';
import { createApiKeySecret, createId } from '#base/ids';
import type { ApiKey } from '#domain/api-key';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { ApiKeyStore } from '#storage/storage';

export const DEFAULT_ENTITY = 'default';
export const BOOTSTRAP_KEY_ID = 'bootstrap';

export interface ApiKeys {
  /** Throws `invalid_api_key`. Null: the request named none. */
  authenticate(secret: string | null): Promise<Caller>;
  create(owner: { entity: string; name: string }): Promise<{ key: ApiKey; secret: string }>;
  list(): Promise<readonly ApiKey[]>;
  revoke(id: string): Promise<'revoked' | 'already_revoked' | 'not_found'>;
}

export function createApiKeys(store: ApiKeyStore, clock: Clock, bootstrapKey: string | null): ApiKeys {
  const bootstrapHash = bootstrapKey === null ? null : sha256(bootstrapKey);
  return {
    async authenticate(secret) {
      if (secret === null) {
        throw new AppError(
          'invalid_api_key',
          'Send an API key in the Authorization header: Bearer wk-…. Make one with `whetstone keys create`.',
        );
      }
      const hash = sha256(secret);
      if (bootstrapHash && timingSafeEqual(hash, bootstrapHash))
        return { entity: DEFAULT_ENTITY, keyId: BOOTSTRAP_KEY_ID };
      // The lookup compares hashes: how long it takes tells nothing about the secret.
      const key = await store.findByHash(hash.toString('hex'));
      if (key && key.revokedAtMs === null && timingSafeEqual(hash, Buffer.from(key.secretHash, 'hex'))) {
        return { entity: key.entity, keyId: key.id };
      }
      throw new AppError('invalid_api_key', 'Incorrect or revoked API key. Make one with `whetstone keys create`.');
    },

    async create({ entity, name }) {
      if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(entity)) {
        throw new AppError(
          'invalid_request',
          `An entity is 1 to 64 letters, digits, dots, dashes or underscores, not "${entity}".`,
        );
      }
      const secret = createApiKeySecret();
      const key: ApiKey = {
        id: createId(), entity, name, secretHash: sha256(secret).toString('hex'), createdAtMs: clock.now(), revokedAtMs: null,
      }; // prettier-ignore
      await store.create(key);
      return { key, secret };
    },

    list: () => store.list(),
    revoke: (id) => store.revoke(id, clock.now()),
  };
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
