// Reserves amounts against limits while something is being made, so that concurrent requests cannot exceed a limit together.
// Reservations are in this server's memory and end with it. The caller says what is counted (bytes, queued jobs) and how a refusal
// reads.
import { createKeyedLock } from '#base/keyed-lock';
import type { AppError } from '#domain/errors';
import type { Account } from '#domain/limits';

export interface AmountLimit {
  /** Null: all accounts of the server together. */
  readonly account: Account | null;
  readonly max: number;
}

export interface Hold {
  /** Reserves more. Throws the refusal if it does not fit; 0 always fits unless the limit is already reached. */
  hold(amount: number): void;
  /** Runs the work that makes it; the part that now exists is no longer reserved. */
  settle<T>(make: () => Promise<Settled<T>>): Promise<T>;
  /** Releases what is still reserved. */
  release(): void;
}

export interface Settled<T> {
  readonly value: T;
  readonly amount: number;
}

/** What is known about an account while something is being made. */
interface Balance {
  used: number;
  held: number;
  holds: number;
}

export interface Refused<L> {
  readonly limit: L;
  readonly used: number;
  readonly held: number;
  /** Whether other requests hold reservations. */
  readonly isShared: boolean;
}

export interface HeldAmounts<L extends AmountLimit> {
  /** Without limits, nothing is read from the storage. */
  open(limits: readonly L[]): Promise<Hold>;
}

/** `lockOf`: limits with the same lock are read and updated one at a time, so that no reading is stale. */
export function createHeldAmounts<L extends AmountLimit>({
  readUsed,
  lockOf,
  refusal,
}: {
  readonly readUsed: (account: L['account']) => Promise<number>;
  readonly lockOf: (limits: readonly L[]) => string;
  readonly refusal: (refused: Refused<L>) => AppError;
}): HeldAmounts<L> {
  const balances = new Map<string, Balance>();
  const locked = createKeyedLock();

  async function openBalance({ account }: L): Promise<Balance> {
    const used = await readUsed(account);
    const balance = balances.get(nameOf(account)) ?? { used, held: 0, holds: 0 };
    balance.used = used;
    balances.set(nameOf(account), balance);
    balance.holds++;
    return balance;
  }

  function refuseOver(limit: L, balance: Balance, own: number, amount: number): void {
    const { used, held } = balance;
    if (used + held + amount <= limit.max && used < limit.max) return;
    throw refusal({ limit, used, held, isShared: held > own });
  }

  return {
    async open(limits) {
      let held = 0;
      const own: { readonly limit: L; readonly balance: Balance }[] = [];
      const giveBack = (amount: number) => {
        for (const { balance } of own) balance.held -= amount;
        held -= amount;
      };
      const release = () => {
        giveBack(held);
        for (const { limit, balance } of own.splice(0)) {
          if (--balance.holds === 0) balances.delete(nameOf(limit.account));
        }
      };
      if (limits.length > 0) {
        await locked(lockOf(limits), async () => {
          for (const limit of limits) own.push({ limit, balance: await openBalance(limit) });
        }).catch((error: unknown) => {
          release();
          throw error;
        });
      }
      return {
        hold(amount) {
          for (const { limit, balance } of own) refuseOver(limit, balance, held, amount);
          giveBack(-amount);
        },
        async settle(make) {
          if (own.length === 0) return (await make()).value;
          return locked(lockOf(limits), async () => {
            const { value, amount } = await make();
            for (const { balance } of own) balance.used += amount;
            giveBack(Math.min(held, amount));
            return value;
          });
        },
        release,
      };
    },
  };
}

const nameOf = (account: Account | null): string => JSON.stringify(account && [account.entity, account.keyId]);
