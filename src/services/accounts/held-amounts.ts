// Amounts of what is being made, held against the limits of who makes it before it is there: what comes at once passes no limit
// together. They are held in the memory of this server: what dies with it holds nothing. What is counted (bytes, jobs in the queue)
// and how a refusal reads, the caller says.
import { createKeyedLock } from '#base/keyed-lock';
import type { AppError } from '#domain/errors';
import type { Account } from '#domain/limits';

export interface AmountLimit {
  /** Null: all accounts of the server together. */
  readonly account: Account | null;
  readonly max: number;
}

export interface Hold {
  /** More of it, before it is made. Throws the refusal where it does not fit; 0 fits wherever the limit is not reached yet. */
  hold(amount: number): void;
  /** Runs what makes it; the amount that is there from now on is held no longer. */
  settle<T>(make: () => Promise<Settled<T>>): Promise<T>;
  /** What is still held is given back. */
  release(): void;
}

export interface Settled<T> {
  readonly value: T;
  readonly amount: number;
}

/** What is known of an account while somebody makes something. */
interface Balance {
  used: number;
  held: number;
  holds: number;
}

export interface Refused<L> {
  readonly limit: L;
  readonly used: number;
  readonly held: number;
  /** Beside those who ask, others hold something. */
  readonly isShared: boolean;
}

export interface HeldAmounts<L extends AmountLimit> {
  /** Without limits nothing is read. */
  open(limits: readonly L[]): Promise<Hold>;
}

/** `lockOf`: limits of one lock are read and settled one after another, so that what is read is never about to be changed by what is being made. */
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
