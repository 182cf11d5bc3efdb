// What travels between the engine's thread and a grammar thread. A matcher's mask lies in memory that both see: the engine
// waits on it between two steps, when it cannot read messages.
import type { Constraint } from '#domain/constraint';

/** Schemas have become grammars (schema-grammar.ts) before they come here. */
export type ThreadConstraint = Exclude<Constraint, { kind: 'json_schema' }>;

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
  /** One word: the matcher that is being worked for, 0 for none. */
  readonly working: SharedArrayBuffer;
  readonly grammarsMax: number;
}

export type ToThread =
  | { readonly kind: 'compile'; readonly id: number; readonly constraint: ThreadConstraint }
  | {
      readonly kind: 'open';
      readonly id: number;
      readonly constraint: ThreadConstraint;
      readonly shared: SharedArrayBuffer;
    }
  | { readonly kind: 'accept'; readonly id: number; readonly tokenId: number }
  | { readonly kind: 'close'; readonly id: number };

/** Answers to `compile` and `open`. */
export interface FromThread {
  readonly id: number;
  /** Null: it worked. */
  readonly fault: string | null;
}

/** Words of a matcher's shared memory; its mask begins at MASK. */
export const ANSWERED = 0; // masks written so far
export const STATE = 1;
export const MASK = 2;

export const STATES = { matching: 0, complete: 1, failed: 2 } as const;

export const maskWords = (vocabSize: number): number => Math.ceil(vocabSize / 32);
