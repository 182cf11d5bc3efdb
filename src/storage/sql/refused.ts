// A refusal in the middle of a transaction: it rolls back what was already written, and becomes a value outside.
import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './rows.ts';

export class Refused<Reason extends string> extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/** `toResult` names the reasons for which `work` throws `Refused`. */
export async function unlessRefused<Reason extends string, T, R>(
  db: Kysely<Tables>,
  toResult: (reason: Reason) => R,
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T | R> {
  try {
    return await db.transaction().execute(work);
  } catch (error) {
    if (error instanceof Refused) return toResult(error.reason as Reason);
    throw error;
  }
}
