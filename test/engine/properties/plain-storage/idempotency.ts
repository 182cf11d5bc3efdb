// Answers of POST routes per Idempotency-Key, in memory. idempotency-times.ts defines how long they are kept.
import { IN_PROGRESS_MS_MAX, REMEMBERED_MS } from '#storage/idempotency-times';
import type { TestedStorage } from './tested-storage.ts';

interface Answer {
  readonly bodyHash: string;
  readonly resourceId: string;
  readonly createdAtMs: number;
  response: string | null;
  heldSinceMs: number;
}

export function createIdempotency(): TestedStorage['idempotency'] {
  const answers = new Map<string, Answer>();
  return {
    async begin(key, bodyHash, resourceId, nowMs) {
      const known = answers.get(key);
      if (!known || nowMs - known.createdAtMs >= REMEMBERED_MS) {
        answers.set(key, { bodyHash, resourceId, response: null, createdAtMs: nowMs, heldSinceMs: nowMs });
        return { outcome: 'new', resourceId };
      }
      if (known.bodyHash !== bodyHash) return { outcome: 'mismatch' };
      if (known.response !== null) return { outcome: 'done', response: known.response };
      if (nowMs - known.heldSinceMs < IN_PROGRESS_MS_MAX) return { outcome: 'in_progress' };
      known.heldSinceMs = nowMs;
      return { outcome: 'new', resourceId: known.resourceId };
    },
    async complete(key, response) {
      const known = answers.get(key);
      if (known) known.response = response;
    },
    async release(key) {
      if (answers.get(key)?.response === null) answers.delete(key);
    },
    async releaseAll() {
      for (const answer of answers.values()) answer.heldSinceMs = 0;
    },
  };
}
