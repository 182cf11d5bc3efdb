// What resolving one GraphQL document may cost. bounds.ts counts what the document says; this file counts what becomes of it: a list inside
// a list multiplies, and each of its objects may read the database. Resolving also lets other requests be answered, and ends when
// its client has left. The library's own documents use a tenth of these budgets, with the longest pages that it asks for.
import { setImmediate } from 'node:timers/promises';
import { aroundMethods } from '#base/around-methods';
import { createBudget, type Budget } from '#base/budget';
import { createSharedTurn } from '#base/yield-to-loop';
import type { KeyedLock } from '#base/keyed-lock';
import { AppError } from '#domain/errors';

/** A page of 5,000 files has 20,000 fields. */
export const FIELDS_MAX = 50_000;
/** Calls of services. The samples of a history of a million lines take a thousand. */
export const READS_MAX = 2_000;
/** Characters of the texts in the answer. */
const TEXT_MAX = 16_000_000;
/** Files of the artifacts that were read, each of which may have ten thousand. */
const FILES_MAX = 1_000_000;

/** How long resolving may hold the event loop. */
const HOLD_MS = 10;

export interface AnswerBudget {
  readonly text: Budget;
  readonly files: Budget;
  /** Rejects once a budget is spent, or once a field or read has found that the client has left. */
  readonly ended: Promise<never>;
  /**
   * Resolves a field: now, or when other requests have had their turn. Never throws. Once the answer has ended it never settles: an error for
   * each of the thousands of fields that wait, with its place in the document, would take the executor seconds.
   */
  field<T>(resolve: () => T): Awaited<T> | Promise<Awaited<T>>;
  /** Spends the fields that so many items of a list have at least, before they are made. */
  items(count: number): void;
  /** Counts the calls of a service. They run one after another, with a turn of others between two: all of them share one connection. */
  reading<T extends object>(service: T): T;
}

async function failed(error: unknown): Promise<never> {
  throw error;
}

const refuse = (what: string, most: number) =>
  new AppError(
    'invalid_request',
    `The answer to this GraphQL document ${what.replace('#', String(most))}. Ask for less at once.`,
    { param: 'query' },
  );

/** `signal`: the client has left. `lock`: the documents of one account take turns at reading. */
export function createAnswerBudget(signal: AbortSignal, account: string, lock: KeyedLock): AnswerBudget {
  let isOver = false;
  const turn = createSharedTurn(HOLD_MS);
  const never = new Promise<never>(() => {});
  let reject: (error: AppError) => void;
  const ended = new Promise<never>((_, rejecting) => (reject = rejecting));
  ended.catch(() => {}); // whoever waits for it gets the error

  function end(error: AppError): AppError {
    isOver = true;
    reject(error);
    return error;
  }

  const budget = (most: number, what: string) => createBudget(most, () => end(refuse(what, most)));
  const fields = budget(FIELDS_MAX, 'has more than # fields');
  const reads = budget(READS_MAX, 'takes more than # reads of the database');

  function goOn(): void {
    if (signal.aborted) throw end(new AppError('cancelled', 'The client has left.'));
  }

  function mayGoOn(count: number): boolean {
    try {
      goOn();
      fields.spend(count);
      return true;
    } catch {
      return false; // `ended` has the reason
    }
  }

  async function later<T>(over: Promise<void> | null, resolve: () => T): Promise<Awaited<T>> {
    for (; over; over = turn()) {
      await over;
      if (isOver || !mayGoOn(0)) return never;
    }
    return await resolve();
  }

  return {
    text: budget(TEXT_MAX, 'is longer than # characters'),
    files: budget(FILES_MAX, 'reads the list of more than # files'),
    ended,
    field<T>(resolve: () => T) {
      if (isOver || !mayGoOn(1)) return never;
      const over = turn();
      if (over) return later(over, resolve);
      try {
        return resolve() as Awaited<T> | Promise<Awaited<T>>;
      } catch (error) {
        return failed(error);
      }
    },
    items: (count) => fields.spend(count),
    reading: (service) =>
      aroundMethods(service, async (_, call) => {
        goOn();
        reads.spend(1);
        return lock(account, async () => {
          await setImmediate();
          goOn();
          return call();
        });
      }),
  };
}
