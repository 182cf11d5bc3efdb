// What travels between the engine's thread and a grammar thread. A matcher's mask lies in memory that both see: the engine
// waits on it between two steps, when it cannot read messages.
import type { Constraint } from '#domain/constraint';

/** Bytes of every token, in order of id: token i is bytes[offsets[i], offsets[i + 1]). Empty: never part of a text. */
export interface VocabularyBytes {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

export interface ThreadData {
  readonly vocabulary: VocabularyBytes;
  /** The model's, which may be padded beyond the tokenizer's. */
  readonly vocabSize: number;
  readonly stopTokenIds: readonly number[];
  /** Words that say what is being worked on (WORKING_FOR, WORKING_SINCE). */
  readonly working: SharedArrayBuffer;
  readonly grammarsMax: number;
  /** That compiling may take, counted (constraint-engine.ts). */
  readonly workMax: number;
}

export type ToThread =
  | { readonly kind: 'compile'; readonly id: number; readonly grammar: KeyedConstraint }
  | {
      readonly kind: 'open';
      readonly id: number;
      readonly grammar: KeyedConstraint;
      readonly shared: SharedArrayBuffer;
      /** Tokens of the text so far: the matcher of a thread that was lost goes on where it was. */
      readonly accepted: readonly number[];
    }
  | { readonly kind: 'accept'; readonly id: number; readonly tokenId: number }
  | { readonly kind: 'close'; readonly id: number };

/** What a thread compiles again, should it not have it any more. */
export interface KeyedConstraint {
  /** Equal constraints have equal keys. */
  readonly key: string;
  readonly constraint: Constraint;
}

export type FromThread = { readonly kind: 'ready' } | ({ readonly kind: 'answer'; readonly id: number } & Answer);

/** To `compile` and `open`. */
export type Answer = { readonly outcome: 'done' } | { readonly outcome: 'refused'; readonly message: string };

/** Words of a thread: the message that is being worked on, 0 for none, and since when. */
export const WORKING_FOR = 0;
export const WORKING_SINCE = 1;
export const WORKING_BYTES = 8;

/** The clock that threads share, in milliseconds that fit into a word; it begins anew every three weeks. */
export const clockMs = (): number => Date.now() & CLOCK_BITS;
export const sinceMs = (thenMs: number): number => (clockMs() - thenMs) & CLOCK_BITS;
const CLOCK_BITS = 0x7fffffff;

/** Words of a matcher's shared memory; its mask begins at MASK. */
export const ANSWERED = 0; // masks written so far
export const STATE = 1;
export const MASK = 2;

export const STATES = { matching: 0, complete: 1, failed: 2, tooComplex: 3 } as const;

export const maskWords = (vocabSize: number): number => Math.ceil(vocabSize / 32);
