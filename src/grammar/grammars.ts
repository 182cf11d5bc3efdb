// Enforces grammars on answers. All grammar work runs in separate threads, so that the step loop never waits for a grammar that
// is slow to compile or to mask. Clients' grammars are first tried in one thread (trials.ts); those that compile quickly
// are matched in a second thread that all share; slow ones are matched where they were compiled.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Log } from '#base/log';
import type { Constraint } from '#domain/constraint';
import { AppError } from '#domain/errors';
import { WORK_OF_COMPILING } from './constraint-engine.ts';
import { startGrammarWorker, type GrammarWorker } from './grammar-worker.ts';
import { createMatcher, wordsFor, type GrammarMatcher, type MatcherSlot } from './matcher.ts';
import { createSpareWorker } from './spare-worker.ts';
import type { KeyedConstraint, VocabularyBytes } from './thread-messages.ts';
import { createTrials, CROWDED, unavailable, type Tried, type TrialOptions } from './trials.ts';

export type { GrammarMatcher, VocabularyBytes };

export interface GrammarLimits {
  /** Longer sources are refused. */
  readonly sourceLengthMax: number;
  readonly compileMs: number;
  /** The most work that compiling may take, counted. A constraint that takes more is refused on every machine. */
  readonly workMax: number;
  /** A grammar that takes longer to compile gets its own thread, so that other grammars do not wait for it. */
  readonly quickMs: number;
  /** For one token; the step of all sequences waits for it. */
  readonly maskMs: number;
  /** Number of compiled grammars that are kept. */
  readonly grammarsMax: number;
}

const DEFAULT_LIMITS: GrammarLimits = {
  sourceLengthMax: 1_000_000,
  compileMs: 10_000, // schemas in use take 1 to 400 ms
  workMax: WORK_OF_COMPILING,
  quickMs: 1_000, // less than maskMs: it is compiled again in the shared thread, where other texts wait for their masks
  maskMs: 2_000, // a mask takes under 1 ms; all streams wait for it
  grammarsMax: 64,
};

export interface Grammars {
  /** Throws `invalid_constraint` with the reason, or `engine_unavailable` if the client should retry. Skipped once no request waits for it. */
  compile(constraint: Constraint, options: Omit<TrialOptions, 'slow'>): Promise<void>;
  /** Starts `count` texts. Throws like `compile`. */
  open(constraint: Constraint, count: number, payer: string): Promise<readonly GrammarMatcher[]>;
  close(): Promise<void>;
}

export interface GrammarsOptions {
  readonly vocabulary: VocabularyBytes;
  readonly vocabSize: number;
  readonly stopTokenIds: readonly number[];
  readonly log: Log;
  readonly limits?: Partial<GrammarLimits>;
}

interface Trial {
  readonly tried: Promise<Tried>;
  readonly abandoned: AbortController;
  waiting: number;
  settled: boolean;
}

/** Total length of the constraints that are known to compile, in characters; constraints beyond it are compiled again. */
const KNOWN_LENGTH_MAX = 20_000_000;
const COSTLY_MAX = 1_000;
const OPENS_MAX = 8; // how often a thread may be lost while a text is being opened

export function createGrammars({ vocabulary, vocabSize, stopTokenIds, log, limits: given }: GrammarsOptions): Grammars {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const { grammarsMax, workMax } = limits;
  const workers = createSpareWorker(() =>
    startGrammarWorker({ vocabulary, vocabSize, stopTokenIds, grammarsMax, workMax }, log),
  );
  /** Texts that are being matched, by thread. */
  const texts = new Map<GrammarWorker, number>();
  const trials = createTrials({ ...limits, takeWorker: () => workers.take(), isIdle: (worker) => !texts.has(worker) });
  let shared: GrammarWorker | null = null;
  const known = new LRUCache<string, Trial>({ maxSize: KNOWN_LENGTH_MAX });
  /** Constraints that the shared thread was lost over. */
  const costly = new LRUCache<string, true>({ max: COSTLY_MAX });

  function trialOf(key: string, constraint: Constraint, options: TrialOptions): Trial {
    const found = known.get(key);
    if (found) return found;
    const abandoned = new AbortController();
    const tried = trials.run({ key, constraint }, { ...options, slow: costly.has(key), signal: abandoned.signal });
    const trial: Trial = { tried, abandoned, waiting: 0, settled: false };
    known.set(key, trial, { size: constraint.source.length + 1 });
    tried.then(
      () => (trial.settled = true),
      () => forget(key, trial),
    );
    return trial;
  }

  function forget(key: string, trial: Trial): void {
    if (known.get(key) === trial) known.delete(key);
  }

  /** Equal constraints are compiled once, for as long as a request waits for the result. */
  async function tried(key: string, constraint: Constraint, options: TrialOptions): Promise<Tried> {
    const trial = trialOf(key, constraint, options);
    trial.waiting++;
    try {
      return await orAborted(trial.tried, options.signal);
    } finally {
      trial.waiting--;
      if (trial.waiting === 0 && !trial.settled) {
        forget(key, trial);
        trial.abandoned.abort();
      }
    }
  }

  function checkLength({ source }: Constraint): void {
    if (source.length <= limits.sourceLengthMax) return;
    const message = `This constraint has ${source.length} characters; at most ${limits.sourceLengthMax} are allowed.`;
    throw new AppError('invalid_constraint', message);
  }

  function sharedWorker(): GrammarWorker {
    if (shared === null || shared.lost) shared = workers.take();
    return shared;
  }

  async function openText(key: string, constraint: Constraint, payer: string): Promise<GrammarMatcher> {
    for (let i = 0; i < OPENS_MAX; i++) {
      const { own } = await tried(key, constraint, { payer });
      if (own?.lost) {
        known.delete(key);
        continue;
      }
      const grammar: KeyedConstraint = { key, constraint };
      const worker = own ?? sharedWorker();
      const place: MatcherSlot = { worker, id: worker.nextId(), words: wordsFor(vocabSize) };
      texts.set(worker, (texts.get(worker) ?? 0) + 1);
      const answer = await worker.ask(messageFor(place, grammar, []), limits.compileMs);
      if (answer !== 'lost' && answer !== 'late' && answer.outcome === 'done') return matcherOf(place, grammar, own);
      leave(worker);
      if (answer !== 'lost') await worker.end();
      // Other texts in this thread are reopened elsewhere.
      if (worker.guilty === place.id) keepApart(key);
    }
    throw unavailable(CROWDED);
  }

  /** From now on, a constraint that a thread was lost over gets its own thread. */
  function keepApart(key: string): void {
    costly.set(key, true);
    known.delete(key);
  }

  function matcherOf(place: MatcherSlot, grammar: KeyedConstraint, own: GrammarWorker | null): GrammarMatcher {
    return createMatcher({
      place,
      maskMs: limits.maskMs,
      reopen: (accepted) => (own === null ? reopen(grammar, accepted) : null),
      onFault: () => keepApart(grammar.key),
      onClose: () => leave(place.worker),
    });
  }

  /** Does not wait for an answer: the step loop sends the request and reads the shared memory. */
  function reopen(grammar: KeyedConstraint, accepted: readonly number[]): MatcherSlot {
    const worker = sharedWorker();
    const place: MatcherSlot = { worker, id: worker.nextId(), words: wordsFor(vocabSize) };
    worker.tell(messageFor(place, grammar, accepted));
    return place;
  }

  function leave(worker: GrammarWorker): void {
    const left = (texts.get(worker) ?? 1) - 1;
    if (left > 0) texts.set(worker, left);
    else texts.delete(worker);
  }

  return {
    async compile(given, options) {
      checkLength(given);
      const constraint = { ...given };
      await tried(keyOf(constraint), constraint, options);
      options.signal?.throwIfAborted();
    },
    async open(given, count, payer) {
      checkLength(given);
      const constraint = { ...given }; // read once, however long it is
      const key = keyOf(constraint);
      const matchers: GrammarMatcher[] = [];
      try {
        while (matchers.length < count) matchers.push(await openText(key, constraint, payer));
        return matchers;
      } catch (error) {
        for (const matcher of matchers) matcher.close();
        throw error;
      }
    },
    async close() {
      await Promise.all([workers.close(), trials.close(), shared?.end()]);
    },
  };
}

/** Equal constraints have equal keys. */
const keyOf = (constraint: Constraint): string =>
  createHash('sha256').update(JSON.stringify(constraint)).digest('base64');

/** Rejects with the signal's reason as soon as it aborts. */
async function orAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => (onAbort = () => reject(signal.reason as Error)));
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

const messageFor = ({ id, words }: MatcherSlot, grammar: KeyedConstraint, accepted: readonly number[]) => ({
  kind: 'open' as const,
  id,
  grammar,
  shared: words.buffer as SharedArrayBuffer,
  accepted,
});
