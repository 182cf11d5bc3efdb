// One text that must satisfy a grammar: masks come from a thread through shared memory, and the step loop waits for them. When
// the thread is lost, the grammar that it was working on is at fault; the others continue in a new thread where they were.
import { AppError } from '#domain/errors';
import type { GrammarWorker } from './grammar-worker.ts';
import { ANSWERED, MASK, maskWords, STATE, STATES } from './thread-messages.ts';
import { CROWDED, tooCostly, unavailable } from './trials.ts';

export interface GrammarMatcher {
  /** Whether `mask` answers at once: waits for it at most so long. Also true where it is overdue, and `mask` says so. */
  isReady(waitMs: number): boolean;
  /** One bit per token, `[ceil(vocab / 32)]` words: may it come next? Waits until it is there. Null: the text is over. */
  mask(): Int32Array | null;
  /** The token was sampled; the next mask is computed in the meantime. */
  accept(tokenId: number): void;
  close(): void;
}

/** Where a matcher lives. */
export interface Place {
  readonly worker: GrammarWorker;
  readonly id: number;
  readonly words: Int32Array;
}

export interface MatcherOptions {
  readonly place: Place;
  readonly maskMs: number;
  /** Asks a new thread for a matcher that has accepted these; null: only the lost one could have had it. */
  readonly reopen: (accepted: readonly number[]) => Place | null;
  /** It took too long. */
  readonly onFault: () => void;
  readonly onClose: () => void;
}

/** A new thread first reads the library and the vocabulary; all streams wait meanwhile. */
const REOPEN_MS = 20_000;
const REOPENS_MAX = 3; // without a mask in between

export const wordsFor = (vocabSize: number): Int32Array =>
  new Int32Array(new SharedArrayBuffer(4 * (MASK + maskWords(vocabSize))));

export function createMatcher({ place: first, maskMs, reopen, onFault, onClose }: MatcherOptions): GrammarMatcher {
  const accepted: number[] = [];
  let place = first;
  let asked = 1; // the first mask came with the matcher
  let askedAtMs = performance.now();
  let reopens = 0;
  let closed = false;

  function isAnswered({ worker, words }: Place, waitMs: number): boolean {
    const deadline = performance.now() + waitMs;
    for (let answered = Atomics.load(words, ANSWERED); answered < asked; answered = Atomics.load(words, ANSWERED)) {
      const left = deadline - performance.now();
      if (left <= 0 || worker.lost) return false;
      Atomics.wait(words, ANSWERED, answered, left);
    }
    return true;
  }

  /** The thread may have been at work for others: who is at work now has as much time as anyone. */
  function extensionMs(): number {
    const worked = place.worker.lost ? null : place.worker.workedMs();
    return worked === null ? 0 : Math.max(0, maskMs - worked);
  }

  const leftMs = (): number => Math.max(0, maskMs - (performance.now() - askedAtMs));

  function moveOn(): void {
    const { worker, id } = place;
    if (!worker.lost) void worker.end();
    const next = worker.guilty === id ? null : reopen(accepted);
    if (next === null) {
      onFault();
      throw tooCostly(`takes longer than ${maskMs / 1000} s for one token`);
    }
    if (++reopens > REOPENS_MAX) throw unavailable(CROWDED);
    place = next;
    asked = 1;
  }

  return {
    isReady: (waitMs) => isAnswered(place, waitMs) || place.worker.lost || (leftMs() === 0 && extensionMs() === 0),
    mask() {
      let waitMs = leftMs();
      while (!isAnswered(place, waitMs)) {
        waitMs = extensionMs();
        if (waitMs > 0) continue;
        moveOn();
        waitMs = REOPEN_MS;
      }
      reopens = 0;
      const { words } = place;
      const state = Atomics.load(words, STATE);
      if (state === STATES.failed)
        throw new AppError('engine_failed', 'The grammar did not accept the token that it had allowed.');
      if (state === STATES.tooComplex) throw tooCostly('needs too many states for this text');
      return state === STATES.complete ? null : words.subarray(MASK);
    },
    accept(tokenId) {
      asked++;
      askedAtMs = performance.now();
      accepted.push(tokenId);
      place.worker.tell({ kind: 'accept', id: place.id, tokenId });
    },
    close() {
      if (closed) return;
      closed = true;
      place.worker.tell({ kind: 'close', id: place.id });
      onClose();
    },
  };
}
