// Compiles new constraints one after the other, each alone in a shared thread: the constraint being compiled when a deadline passes or
// the thread dies twice is at fault, and the others only wait. The queue is fair to payers. A constraint that takes longer than a
// moment keeps the thread, up to its own deadline, and the others continue in another thread, which has already started (spare-worker.ts).
import { createFairQueue } from '#base/fair-queue';
import { AppError } from '#domain/errors';
import type { GrammarWorker } from './grammar-worker.ts';
import type { Answer, KeyedConstraint } from './thread-messages.ts';

export interface Tried {
  /** The thread that holds the grammar and must run its matchers; null: the grammar compiles quickly, so any thread can run them. */
  readonly own: GrammarWorker | null;
}

export interface Trials {
  /** Throws `invalid_constraint`, or `engine_unavailable` if the client should retry, or the signal's reason if it aborts in the queue. */
  run(grammar: KeyedConstraint, options: TrialOptions): Promise<Tried>;
  close(): Promise<void>;
}

export interface TrialOptions {
  /** Whom the queue counts the constraint for. */
  readonly payer: string;
  readonly signal?: AbortSignal;
  /** Gets its own thread from the start. */
  readonly slow?: boolean;
}

export interface TrialsOptions {
  readonly takeWorker: () => GrammarWorker;
  /** Whether a thread matches no text, so that another grammar may replace its own. */
  readonly isIdle: (worker: GrammarWorker) => boolean;
  readonly compileMs: number;
  /** How long other constraints wait for this one. */
  readonly quickMs: number;
}

/** Each holds a copy of the vocabulary. */
const OWN_WORKERS_MAX = 2;
const WAIT_MS = 30_000;
const WAITING_MAX = 128;
const WAITING_OF_ONE_MAX = 32;

export function createTrials({ takeWorker, isIdle, compileMs, quickMs }: TrialsOptions): Trials {
  let shared: GrammarWorker | null = null;
  /** Threads of slow grammars, oldest first; `busy` while they compile. */
  const own = new Map<GrammarWorker, { busy: boolean }>();
  const queue = createFairQueue({
    waitMs: WAIT_MS,
    waitingMax: WAITING_MAX,
    waitingOfOneMax: WAITING_OF_ONE_MAX,
    refusal: (cause) => unavailable(REFUSALS[cause]),
  });
  let closed = false;

  async function run(grammar: KeyedConstraint, { payer, signal, slow = false }: TrialOptions): Promise<Tried> {
    if (slow) return alone(takeWorker(), grammar);
    const { tried } = await queue.run(payer, () => compile(grammar), signal);
    return tried;
  }

  /** Resolves when the next constraint may start; `tried` may take longer. */
  async function compile(grammar: KeyedConstraint, isSecond = false): Promise<{ tried: Promise<Tried> }> {
    if (shared === null || shared.lost) shared = takeWorker();
    const worker = shared;
    const id = worker.nextId();
    const answer = worker.ask({ kind: 'compile', id, grammar }, compileMs);
    const isQuick = await Promise.race([answer.then(() => true), worker.started.then(() => later(quickMs))]);
    if (!isQuick) {
      shared = null;
      return { tried: keep(worker, id, answer) };
    }
    const answered = await answer;
    if (answered === 'lost' && !isSecond) return compile(grammar, true);
    return { tried: settle(worker, id, answered) };
  }

  async function settle(worker: GrammarWorker, id: number, answer: Answer | 'late' | 'lost'): Promise<Tried> {
    if (answer === 'lost' && worker.guilty === id && !closed)
      throw tooCostly('needs more memory than a grammar may use');
    if (answer === 'lost') throw unavailable(CROWDED);
    if (answer !== 'late' && answer.outcome === 'done') return { own: null };
    if (answer === 'late') await worker.end();
    if (answer === 'late') throw tooCostly(`takes longer than ${compileMs / 1000} s to compile`);
    throw new AppError('invalid_constraint', answer.message);
  }

  function alone(worker: GrammarWorker, grammar: KeyedConstraint): Promise<Tried> {
    const id = worker.nextId();
    return keep(worker, id, worker.ask({ kind: 'compile', id, grammar }, compileMs));
  }

  async function keep(worker: GrammarWorker, id: number, answer: ReturnType<GrammarWorker['ask']>): Promise<Tried> {
    const entry = { busy: true };
    try {
      await makeRoom();
      own.set(worker, entry);
      await settle(worker, id, await answer);
      return { own: worker };
    } catch (error) {
      own.delete(worker);
      await worker.end();
      throw error;
    } finally {
      entry.busy = false;
    }
  }

  async function makeRoom(): Promise<void> {
    for (const worker of own.keys()) if (worker.lost) own.delete(worker);
    if (own.size < OWN_WORKERS_MAX) return;
    const idle = [...own].find(([worker, { busy }]) => !busy && isIdle(worker))?.[0];
    if (idle === undefined) throw unavailable(`${OWN_WORKERS_MAX} other large constraints are in use.`);
    own.delete(idle);
    await idle.end();
  }

  return {
    run,
    async close() {
      closed = true;
      await shared?.end();
      await Promise.all([...own.keys()].map((worker) => worker.end()));
    },
  };
}

const later = (ms: number): Promise<false> => new Promise((resolve) => void setTimeout(resolve, ms, false).unref());

const REFUSALS = {
  crowded: 'Too many constraints are waiting to be compiled.',
  late: `The constraint waited ${WAIT_MS / 1000} s while others were compiled.`,
};

/** Does not say which constraint was at fault: this one can be sent again. */
export const CROWDED = 'The server is busy with the constraints of other requests.';

export const unavailable = (reason: string): AppError => new AppError('engine_unavailable', `${reason} Try again.`);

/** The error for a constraint that is at fault. */
export const tooCostly = (what: string): AppError =>
  new AppError('invalid_constraint', `This constraint ${what}. Use a simpler one.`);
