// What resolving one GraphQL document may cost. bounds.ts counts what the document says; this file counts what becomes of it: a list inside
// a list multiplies, and each of its objects may read the database. Resolving also lets other requests be answered, and ends when
// its client has left. The library's own documents use a tenth of these budgets, with the longest pages that it asks for.
import { setImmediate } from 'node:timers/promises';
import { aroundMethods } from '#base/around-methods';
import { createBudget, type Budget } from '#base/budget';
import type { KeyedLock } from '#base/keyed-lock';
import { AppError } from '#domain/errors';

/** A page of 5,000 files has 20,000 fields. */
export const FIELDS_MAX = 100_000;
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
  /**
   * Resolves a field: now, or when other requests have had their turn. Never throws at once: the executor would leave the fields that still
   * wait to themselves, and the first of them that fails would end the process.
   */
  field<T>(resolve: () => T): Promise<Awaited<T>>;
  /** Counts the calls of a service. They run one after another, with a turn of others between two: all of them share one connection. */
  reading<T extends object>(service: T): T;
}

const refuse = (what: string) => (most: number) =>
  new AppError('invalid_request', `The answer to this GraphQL document ${what.replace('#', String(most))}. Ask for less at once.`, { param: 'query' }); // prettier-ignore

/** `signal`: the client has left. `lock`: the documents of one account take turns at reading. */
export function createAnswerBudget(signal: AbortSignal, account: string, lock: KeyedLock): AnswerBudget {
  const fields = createBudget(FIELDS_MAX, refuse('has more than # fields'));
  const reads = createBudget(READS_MAX, refuse('takes more than # reads of the database'));
  let sinceMs = performance.now();
  let turn: Promise<void> | null = null;

  function goOn(): void {
    if (signal.aborted) throw new AppError('cancelled', 'The client has left.');
  }

  /** One for all fields that wait. */
  function nextTurn(): Promise<void> {
    return (turn ??= setImmediate().then(() => {
      turn = null;
      sinceMs = performance.now();
    }));
  }

  return {
    text: createBudget(TEXT_MAX, refuse('is longer than # characters')),
    files: createBudget(FILES_MAX, refuse('reads the list of more than # files')),
    async field<T>(resolve: () => T): Promise<Awaited<T>> {
      goOn();
      fields.spend(1);
      if (performance.now() - sinceMs >= HOLD_MS) {
        await nextTurn();
        goOn();
      }
      return await resolve();
    },
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
