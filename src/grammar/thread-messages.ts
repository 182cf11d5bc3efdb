// The messages between the engine's thread and a grammar thread. A matcher's mask is in shared memory, because the engine waits for
// it between two steps, when it cannot receive messages.
import type { Constraint } from '#domain/constraint';

/** The bytes of all tokens by id: token i is bytes[offsets[i], offsets[i + 1]). Empty: the token is never part of a text. */
export interface VocabularyBytes {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

export interface ThreadData {
  readonly vocabulary: VocabularyBytes;
  /** The vocabulary size of the model, which may be larger than the tokenizer's because of padding. */
  readonly vocabSize: number;
  readonly stopTokenIds: readonly number[];
  /** Shared words that say what the thread is working on (WORKING_FOR, WORKING_SINCE). */
  readonly working: SharedArrayBuffer;
  readonly grammarsMax: number;
  /** The most work that compiling may take, counted (constraint-engine.ts). */
  readonly workMax: number;
}

export type ToThread =
  | { readonly kind: 'compile'; readonly id: number; readonly grammar: KeyedConstraint }
  | {
      readonly kind: 'open';
      readonly id: number;
      readonly grammar: KeyedConstraint;
      readonly shared: SharedArrayBuffer;
      /** The tokens of the text so far, so that a new thread can continue the text of a lost one. */
      readonly accepted: readonly number[];
    }
  | { readonly kind: 'accept'; readonly id: number; readonly tokenId: number }
  | { readonly kind: 'close'; readonly id: number };

/** A constraint that a thread compiles again if it is no longer cached. */
export interface KeyedConstraint {
  /** Equal constraints have equal keys. */
  readonly key: string;
  readonly constraint: Constraint;
}

export type FromThread = { readonly kind: 'ready' } | ({ readonly kind: 'answer'; readonly id: number } & Answer);

/** The answer to `compile` and `open`. */
export type Answer = { readonly outcome: 'done' } | { readonly outcome: 'refused'; readonly message: string };

/** Indices of a thread's shared words: the id of the message that it is working on (0: none), and since when. */
export const WORKING_FOR = 0;
export const WORKING_SINCE = 1;
export const WORKING_BYTES = 8;

/** A clock shared by threads, in milliseconds that fit into one word; it wraps around every three weeks. */
export const clockMs = (): number => Date.now() & CLOCK_BITS;
export const sinceMs = (thenMs: number): number => (clockMs() - thenMs) & CLOCK_BITS;
const CLOCK_BITS = 0x7fffffff;

/** Indices into a matcher's shared memory; the mask starts at MASK. */
export const ANSWERED = 0; // number of masks written so far
export const STATE = 1;
export const MASK = 2;

export const STATES = { matching: 0, complete: 1, failed: 2, tooComplex: 3 } as const;

export const maskWords = (vocabSize: number): number => Math.ceil(vocabSize / 32);
