// What a key, and its entity, may use concurrently, per day and on disk. A limit that is reached answers 429 and says which limit it is,
// whose it is, and when to try again. Requests in flight are counted by each server alone; everything else is counted in the storage
// that servers share. Limits of the server as a whole are next to the queues that they bound.
import { LRUCache } from 'lru-cache';
import type { Clock } from '#base/clock';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Account, LimitName, Limits } from '#domain/limits';
import { dayUtcAt } from '#domain/usage';
import type { Storage } from '#storage/storage';
import { createHeldAmounts, type AmountLimit, type Hold } from './held-amounts.ts';
import { createStoredBytes, type OpenReservation } from './stored-bytes.ts';

export interface AccountLimits {
  /** Counts the request until the returned function is called. Throws `too_many_requests`, as all of these methods do. */
  admit(caller: Caller): Promise<() => void>;
  checkTokens(caller: Caller): Promise<void>;
  /** Runs work that queues one job, and reserves its place meanwhile. `queueMax`: for the whole server. */
  queueing<T>(caller: Caller, queueMax: number, work: (place: Pick<Hold, 'settle'>) => Promise<T>): Promise<T>;
  /** As `queueing`, for a background response, which also counts as a request in flight until it is answered. */
  backgrounding<T>(caller: Caller, queueMax: number, work: (place: Pick<Hold, 'settle'>) => Promise<T>): Promise<T>;
  /** Runs work that stores bytes, and reserves them until they are stored. */
  storing<T>(caller: Caller, work: (reservation: OpenReservation) => Promise<T>): Promise<T>;
}

export interface AccountLimitsDeps {
  readonly storage: Storage;
  readonly clock: Clock;
}

/** How long an operator's change may take to have effect. */
const REMEMBER_MS = 1_000;
const ENTITIES_REMEMBERED_MAX = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const JOBS_RETRY_SECONDS = 10;
const BACKGROUND_RETRY_SECONDS = 5;

interface QueueLimit extends AmountLimit {
  /** Null: the limit of the server. */
  readonly whose: string | null;
}

export function createAccountLimits({ storage, clock }: AccountLimitsDeps): AccountLimits {
  const inFlight = new Map<string, number>();
  const remembered = new LRUCache<string, { limits: Limits; readAtMs: number }>({ max: ENTITIES_REMEMBERED_MAX });

  async function limitsOf(entity: string): Promise<Limits> {
    const nowMs = clock.now();
    const known = remembered.get(entity);
    if (known && Math.abs(nowMs - known.readAtMs) < REMEMBER_MS) return known.limits;
    const limits = await storage.accounts.limitsOf(entity);
    remembered.set(entity, { limits, readAtMs: nowMs });
    return limits;
  }

  /** The limits of the key and of its entity, if set. */
  async function limited(caller: Caller, name: LimitName): Promise<{ account: Account; max: number; whose: string }[]> {
    const { entity, keyId } = caller;
    const ofEntity = (await limitsOf(entity))[name];
    const ofKey = caller.limits[name];
    return [
      ...(ofKey === undefined ? [] : [{ account: { entity, keyId }, max: ofKey, whose: 'this key' }]),
      ...(ofEntity === undefined ? [] : [{ account: { entity, keyId: null }, max: ofEntity, whose: entity }]),
    ];
  }

  const storedBytes = createStoredBytes(storage.accounts);

  const queuedJobs = createHeldAmounts<QueueLimit>({
    readUsed: (account) => storage.jobs.count('queued', account),
    lockOf: () => 'the queue', // one lock for all, because they share the server's limit
    refusal: ({ limit }) => queueRefusal(limit),
  });

  const unanswered = createHeldAmounts<QueueLimit>({
    readUsed: (account) => storage.responses.countUnfinished(account),
    lockOf: () => 'the background',
    refusal: ({ limit }) => backgroundRefusal(limit),
  });

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
        throw refusal(
          `${whose} has used ${used} tokens today, over its limit of ${max}`,
          'The day ends at midnight UTC.',
          seconds,
        );
      }
    },

    async queueing(caller, queueMax, work) {
      const ofServer = { account: null, max: queueMax, whose: null };
      const place = await queuedJobs.open([...(await limited(caller, 'queuedJobs')), ofServer]);
      return releasing(place, () => {
        place.hold(1);
        return work(place);
      });
    },

    async backgrounding(caller, queueMax, work) {
      const ofServer = { account: null, max: queueMax, whose: null };
      const place = await unanswered.open([...(await limited(caller, 'requestsInFlight')), ofServer]);
      return releasing(place, () => {
        place.hold(1);
        return work(place);
      });
    },

    async storing(caller, work) {
      const limits = await limited(caller, 'storedBytes');
      const maxOf = (keyId: string | null) => limits.find(({ account }) => account.keyId === keyId)?.max ?? null;
      const payer = { keyId: caller.keyId, keyBytesMax: maxOf(caller.keyId), entityBytesMax: maxOf(null) };
      const reservation = await storedBytes.reserve(payer, caller.entity, limits);
      return releasing(reservation, () => work(reservation));
    },
  };
}

async function releasing<T>(hold: Hold, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    hold.release();
  }
}

function queueRefusal({ max, whose }: QueueLimit): AppError {
  return whose === null
    ? refusal(`${max} training jobs are queued already`, 'Try again when some have finished.', JOBS_RETRY_SECONDS)
    : refusal(
        `${whose} has ${max} training jobs in the queue, which is its limit`,
        'Wait until one has started, or cancel one.',
        JOBS_RETRY_SECONDS,
      );
}

const backgroundRefusal = ({ max, whose }: QueueLimit): AppError =>
  refusal(
    `${whose ?? 'this server'} has ${max} answers in the background, which is its limit`,
    'Wait until one is there, or cancel one.',
    BACKGROUND_RETRY_SECONDS,
  );

const refusal = (what: string, todo: string, retryAfterSeconds: number): AppError =>
  new AppError('too_many_requests', `${what[0]!.toUpperCase()}${what.slice(1)}. ${todo}`, { retryAfterSeconds });
