// Releases idempotency keys whose storage failed during the request, in the background, once the storage works again. They are released
// one at a time, up to a maximum number and duration. A key that is given up can be used again once the store considers its holder dead.
import pRetry from 'p-retry';
import type { Log } from '#base/log';
import type { IdempotencyStore } from '#storage/storage';

export interface HeldKeys {
  abandon(key: string, heldSinceMs: number): void;
}

/** One minute of refused requests at the rate of a busy server. */
export const HELD_KEYS_MAX = 10_000;
/** Storage that is away for longer is probably away for hours. */
const GIVE_UP_MS = 60_000;
const RETRIES = { retries: Infinity, minTimeout: 200, maxTimeout: 5_000, maxRetryTime: GIVE_UP_MS, unref: true };

export function createHeldKeys(store: Pick<IdempotencyStore, 'abandon'>, log: Log): HeldKeys {
  const waiting: { readonly key: string; readonly heldSinceMs: number }[] = [];
  let working = false;

  async function letAllGo(): Promise<void> {
    working = true;
    try {
      for (let first = waiting[0]; first; first = waiting[0]) {
        const { key, heldSinceMs } = first;
        await pRetry(() => store.abandon(key, heldSinceMs), RETRIES);
        waiting.shift();
      }
    } catch (error) {
      giveUp(waiting.splice(0).length, `the storage failed for ${GIVE_UP_MS / 1000} s`, error);
    }
    working = false;
  }

  function giveUp(keys: number, cause: string, error: unknown): void {
    log.warn('idempotency.keys_held', { keys, cause, consequence: 'repeated requests must wait', err: error });
  }

  return {
    abandon(key, heldSinceMs) {
      if (waiting.length >= HELD_KEYS_MAX)
        return giveUp(1, `${HELD_KEYS_MAX} other keys are waiting to be released`, null);
      waiting.push({ key, heldSinceMs });
      if (!working) void letAllGo();
    },
  };
}
