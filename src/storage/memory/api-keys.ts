// The slow, simple reference for sql/api-keys.ts.
import { invariant } from '#base/invariant';
import type { ApiKey } from '#domain/api-key';
import type { ApiKeyStore } from '../storage.ts';

export function createMemoryApiKeys(): ApiKeyStore {
  let apiKeys: ApiKey[] = [];
  return {
    async create(key) {
      invariant(!apiKeys.some(({ id }) => id === key.id), `there is a key ${key.id} already`);
      invariant(!apiKeys.some((k) => k.secretHash === key.secretHash), 'two keys have one secret');
      apiKeys.push(key);
    },
    async findByHash(secretHash) {
      return apiKeys.find((key) => key.secretHash === secretHash) ?? null;
    },
    async touch(id, usedAtMs) {
      apiKeys = apiKeys.map((k) => (k.id === id ? { ...k, lastUsedAtMs: Math.max(k.lastUsedAtMs ?? 0, usedAtMs) } : k));
    },
    async list(entity) {
      return apiKeys
        .filter((key) => key.entity === (entity ?? key.entity))
        .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
    },
    async revoke(id, nowMs) {
      const key = apiKeys.find((k) => k.id === id);
      if (!key) return 'not_found';
      if (key.revokedAtMs !== null) return 'already_revoked';
      apiKeys = apiKeys.map((k) => (k.id === id ? { ...k, revokedAtMs: nowMs } : k));
      return 'revoked';
    },
  };
}
