// The id of a row of usage: the same key always has the same one, so that amounts are added to it.
import { createHash } from 'node:crypto';
import type { UsageKey } from '#domain/usage';

export const usageId = ({ entity, keyId, project, model, dayUtc }: UsageKey): string =>
  createHash('sha256')
    .update(JSON.stringify([entity, keyId, project, model, dayUtc]))
    .digest('hex')
    .slice(0, 32);
