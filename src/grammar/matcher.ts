// One text that must satisfy a grammar: a thread writes masks into shared memory, and the step loop waits for them. When the
// thread is lost, the grammar that it was working on is at fault; the other texts continue in a new thread.
import { AppError } from '#domain/errors';
import type { GrammarWorker } from './grammar-worker.ts';
import { ANSWERED, MASK, maskWords, STATE, STATES } from './thread-messages.ts';
import { CROWDED, tooCostly, unavailable } from './trials.ts';

export interface GrammarMatcher {
  /** Waits at most `waitMs`; returns whether `mask` will not block. Also true if the mask is overdue: then `mask` throws. */
  isReady(waitMs: number): boolean;
  /** One bit per token, `[ceil(vocab / 32)]` words: may it come next? Waits for the mask. Returns null if the text is over. */
  mask(): Int32Array | null;
  /** Reports the sampled token; the thread computes the next mask in the meantime. */
  accept(tokenId: number): void;
  close(): void;
}

/** The thread and the memory of a matcher. */
export interface MatcherSlot {
  readonly worker: GrammarWorker;
  readonly id: number;
  readonly words: Int32Array;
}

export interface MatcherOptions {
  readonly place: MatcherSlot;
  readonly maskMs: number;
  /** Opens a matcher in a new thread that has accepted these tokens; null: the constraint was at fault with its own thread. */
  readonly reopen: (accepted: readonly number[]) => MatcherSlot | null;
  /** Called when the constraint took too long. */
  readonly onFault: () => void;
  readonly onClose: () => void;
}

/** A new thread first reads the library and the vocabulary; all streams wait for it. */
const REOPEN_MS = 20_000;
const REOPENS_MAX = 3; // consecutive, without a mask in between

export const wordsFor = (vocabSize: number): Int32Array =>
  new Int32Array(new SharedArrayBuffer(4 * (MASK + maskWords(vocabSize))));

export function createMatcher({ place: first, maskMs, reopen, onFault, onClose }: MatcherOptions): GrammarMatcher {
  const accepted: number[] = [];
  let place = first;
  let asked = 1; // the thread writes the first mask when it opens the text
  let askedAtMs = performance.now();
  let reopens = 0;
  let closed = false;

  function isAnswered({ worker, words }: MatcherSlot, waitMs: number): boolean {
    const deadline = performance.now() + waitMs;
    for (let answered = Atomics.load(words, ANSWERED); answered < asked; answered = Atomics.load(words, ANSWERED)) {
      const left = deadline - performance.now();
      if (left <= 0 || worker.lost) return false;
      Atomics.wait(words, ANSWERED, answered, left);
    }
    return true;
  }

  /** The thread may have worked for other texts first: the text it is working on now gets the full deadline. */
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
        throw new AppError('engine_failed', 'The grammar rejected a token that it had allowed.');
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
