// Lets a client repeat a creating POST safely: the same key and body give the same answer for 24 h, even if the server died or lost its
// database between the work and the answer. Failures are not remembered, so that a retry after a 503 runs again; where the failed
// attempt may have created something, the retry gets the same id and finds it.
import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError, type ErrorCode } from '#domain/errors';
import type { IdempotencyStore } from '#storage/storage';
import { createHeldKeys } from './held-keys.ts';

export interface IdempotentRequest {
  readonly caller: Caller;
  readonly route: string;
  /** The Idempotency-Key header; null: the client sent none. */
  readonly key: string | null;
  /** Hash of whatever the answer depends on: the body, and the episode that it belongs to. */
  readonly requestHash: string;
}

/**
 * Runs `create` unless this request was answered before. Answers are JSON. `create` gets the id of the thing it makes, and must return
 * the existing one if there is one: an earlier run that a crash cut off had the same id.
 */
export type Idempotent = <T>(request: IdempotentRequest, create: (id: string) => Promise<T>) => Promise<T>;

const MAX_KEY_CHARACTERS = 255; // as in Stripe's API, which made the header common

export function createIdempotent(store: IdempotencyStore, clock: Clock, log: Log): Idempotent {
  const heldKeys = createHeldKeys(store, log);
  return async <T>(
    { caller, route, key, requestHash }: IdempotentRequest,
    create: (id: string) => Promise<T>,
  ): Promise<T> => {
    if (key === null) return create(createId());
    if (key === '' || key.length > MAX_KEY_CHARACTERS) {
      throw new AppError(
        'invalid_request',
        `Idempotency-Key must have 1 to ${MAX_KEY_CHARACTERS} characters, got ${key.length}.`,
      );
    }
    const scopedKey = createHash('sha256')
      .update(JSON.stringify([caller.entity, route, key]))
      .digest('hex');
    const nowMs = clock.now();
    const begun = await store.begin(scopedKey, requestHash, createId(), nowMs).catch((error: unknown) => {
      heldKeys.abandon(scopedKey, nowMs); // the key may have been taken although the answer was lost
      throw error;
    });
    switch (begun.outcome) {
      case 'done':
        return JSON.parse(begun.response) as T;
      case 'in_progress':
        throw new AppError(
          'idempotency_in_progress',
          'A request with this Idempotency-Key is still running. Try again shortly.',
          { retryAfterSeconds: 1 },
        );
      case 'mismatch':
        throw new AppError(
          'idempotency_mismatch',
          'This Idempotency-Key was used with another body, or for another episode. Use a new key for a new request.',
        );
      case 'new':
        break;
    }
    try {
      const response = await create(begun.resourceId);
      await store.complete(scopedKey, JSON.stringify(response));
      return response;
    } catch (error) {
      const forgotten = isRefusal(error) ? store.release(scopedKey) : store.abandon(scopedKey, nowMs);
      await forgotten.catch(() => heldKeys.abandon(scopedKey, nowMs)); // report the first failure, not this one
      throw error;
    }
  };
}

/** Whether the request was certainly refused before anything was made. Other failures may come after the work. */
const isRefusal = (error: unknown): boolean => error instanceof AppError && !FAILURES.has(error.code);

const FAILURES: ReadonlySet<ErrorCode> = new Set([
  'storage_unavailable',
  'damaged_data',
  'internal',
  'cancelled',
  'engine_unavailable',
  'engine_failed',
]);
