// What a key, and the entity behind it, may use at once, per day and on disk. Every limit that is reached is a 429 that says
// which one, whose, and when to try again. Requests in flight are counted by this server alone; the rest is in the storage,
// which servers share. Limits of the server as a whole are elsewhere, with the queues they bound.
import type { Clock } from '#base/clock';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Account, LimitName, Limits } from '#domain/limits';
import { dayUtcAt } from '#domain/usage';
import type { Storage } from '#storage/storage';

export interface AccountLimits {
  /** Counts the request until the function that it gives is called. Throws `too_many_requests`, as all of these do. */
  admit(caller: Caller): Promise<() => void>;
  checkTokens(caller: Caller): Promise<void>;
  checkQueuedJobs(caller: Caller): Promise<void>;
  /** How many bytes the caller may still store; Infinity: as many as there is room for. */
  bytesLeft(caller: Caller): Promise<number>;
  /** Notes what was stored. */
  charge(owner: Pick<Caller, 'entity' | 'keyId'>, blob: string, sizeBytes: number): Promise<void>;
}

export interface AccountLimitsDeps {
  readonly storage: Storage;
  readonly clock: Clock;
}

/** How long what an operator changed may take to count. */
const REMEMBER_MS = 1_000;
const ENTITIES_REMEMBERED_MAX = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Somebody has to delete something. */
const STORED_RETRY_SECONDS = 60;
const JOBS_RETRY_SECONDS = 10;

export function createAccountLimits({ storage, clock }: AccountLimitsDeps): AccountLimits {
  const inFlight = new Map<string, number>();
  const remembered = new Map<string, { limits: Limits; readAtMs: number }>();

  async function limitsOf(entity: string): Promise<Limits> {
    const nowMs = clock.now();
    const known = remembered.get(entity);
    if (known && Math.abs(nowMs - known.readAtMs) < REMEMBER_MS) return known.limits;
    const limits = await storage.accounts.limitsOf(entity);
    if (remembered.size >= ENTITIES_REMEMBERED_MAX) remembered.clear();
    remembered.set(entity, { limits, readAtMs: nowMs });
    return limits;
  }

  /** The limit of the key and that of its entity, where they are set. */
  async function limited(caller: Caller, name: LimitName): Promise<{ account: Account; max: number; whose: string }[]> {
    const { entity, keyId } = caller;
    const ofEntity = (await limitsOf(entity))[name];
    const ofKey = caller.limits[name];
    return [
      ...(ofKey === undefined ? [] : [{ account: { entity, keyId }, max: ofKey, whose: 'this key' }]),
      ...(ofEntity === undefined ? [] : [{ account: { entity, keyId: null }, max: ofEntity, whose: entity }]),
    ];
  }

  const nameOf = ({ entity, keyId }: Account): string => JSON.stringify([entity, keyId]);

  return {
    async admit(caller) {
      const accounts = await limited(caller, 'requestsInFlight');
      for (const { account, max, whose } of accounts) {
        if ((inFlight.get(nameOf(account)) ?? 0) < max) continue;
        throw refusal(`${whose} has ${max} requests in flight, which is its limit`, 'Wait until one has ended.', 1);
      }
      const names = accounts.map(({ account }) => nameOf(account));
      for (const name of names) inFlight.set(name, (inFlight.get(name) ?? 0) + 1);
      return () => {
        for (const name of names.splice(0)) {
          const left = inFlight.get(name)! - 1;
          if (left > 0) inFlight.set(name, left);
          else inFlight.delete(name);
        }
      };
    },

    async checkTokens(caller) {
      const nowMs = clock.now();
      const today = dayUtcAt(nowMs);
      for (const { account, max, whose } of await limited(caller, 'tokensPerDay')) {
        const { totals } = await storage.usage.list(
          {
            entity: account.entity,
            ...(account.keyId === null ? {} : { keyId: account.keyId }),
            from: today,
            to: today,
          },
          { after: null, limit: 1 },
        );
        const used = totals.promptTokens + totals.completionTokens;
        if (used < max) continue;
        const seconds = Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000);
        throw refusal(`${whose} has used ${used} tokens today, over its limit of ${max}`, 'The day ends at midnight UTC.', seconds); // prettier-ignore
      }
    },

    async checkQueuedJobs(caller) {
      for (const { account, max, whose } of await limited(caller, 'queuedJobs')) {
        if ((await storage.jobs.countQueued(account)) < max) continue;
        throw refusal(`${whose} has ${max} training jobs in the queue, which is its limit`, 'Wait until one has started, or cancel one.', JOBS_RETRY_SECONDS); // prettier-ignore
      }
    },

    async bytesLeft(caller) {
      let left = Infinity;
      for (const { account, max, whose } of await limited(caller, 'storedBytes')) {
        const stored = await storage.accounts.storedBytes(account);
        if (stored >= max) {
          throw refusal(`${whose} stores ${stored} bytes, over its limit of ${max}`, 'Delete models, checkpoints or artifacts.', STORED_RETRY_SECONDS); // prettier-ignore
        }
        left = Math.min(left, max - stored);
      }
      return left;
    },

    charge: ({ entity, keyId }, blob, sizeBytes) => storage.accounts.addBlob({ blob, entity, keyId, sizeBytes }),
  };
}

const refusal = (what: string, todo: string, retryAfterSeconds: number): AppError =>
  new AppError('too_many_requests', `${what[0]!.toUpperCase()}${what.slice(1)}. ${todo}`, { retryAfterSeconds });
