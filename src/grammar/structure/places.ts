// The position of a text: what is being read, and the stack of open frames. Equal places and equal frames are one object; machine.ts
// creates them and steps from one to the next.
import type { Term } from '../lexemes/terms.ts';
import type { Form, JsonSyntax } from './forms.ts';
import type { ArrayShape, ObjectShape, Obligation } from './shapes.ts';

/** What follows a value. */
export type Frame =
  | { readonly id: number; readonly kind: 'end' }
  | {
      readonly id: number;
      readonly kind: 'sequence';
      readonly parts: readonly Form[];
      readonly at: number;
      readonly next: Frame;
    }
  | {
      readonly id: number;
      readonly kind: 'repeat';
      readonly form: Extract<Form, { kind: 'repeat' }>;
      readonly count: number;
      readonly next: Frame;
    }
  | ObjectFrame
  | ArrayFrame;

export interface ObjectFrame {
  readonly id: number;
  readonly kind: 'object';
  readonly json: JsonSyntax;
  readonly shape: ObjectShape;
  readonly seen: ReadonlySet<number>;
  /** The distinct keys of classes, if the shape counts keys. */
  readonly others: readonly string[];
  readonly next: Frame;
  more: boolean | null;
  close: boolean | null;
  allowed: Uint8Array | null;
}

export interface ArrayFrame {
  readonly id: number;
  readonly kind: 'array';
  readonly json: JsonSyntax;
  readonly shape: ArrayShape;
  /** The number of items begun. */
  readonly length: number;
  readonly counts: readonly number[];
  /** If items must be unique: the values so far, and the position in the text where the last item started. */
  readonly used: readonly unknown[];
  readonly start: number;
  readonly next: Frame;
}

export type Place =
  | { readonly id: number; readonly kind: 'end' }
  | { readonly id: number; readonly kind: 'lexeme'; readonly term: Term; readonly next: Frame }
  | {
      readonly id: number;
      readonly kind: 'begin';
      readonly json: JsonSyntax;
      readonly shape: ObjectShape | ArrayShape;
      readonly next: Frame;
    }
  | {
      readonly id: number;
      readonly kind: 'key';
      readonly frame: ObjectFrame;
      readonly gap: Term;
      readonly isFirst: boolean;
    }
  | {
      readonly id: number;
      readonly kind: 'named';
      readonly frame: ObjectFrame;
      readonly from: number;
      readonly to: number;
      readonly depth: number;
    }
  | {
      readonly id: number;
      readonly kind: 'other';
      readonly frame: ObjectFrame;
      readonly which: number;
      readonly term: Term;
      readonly start: number;
    }
  | {
      readonly id: number;
      readonly kind: 'colon';
      readonly frame: ObjectFrame;
      readonly value: Obligation;
      readonly gap: Term;
    }
  | {
      readonly id: number;
      readonly kind: 'value';
      readonly frame: ObjectFrame;
      readonly value: Obligation;
      readonly gap: Term;
    }
  | {
      readonly id: number;
      readonly kind: 'item';
      readonly frame: ArrayFrame;
      readonly gap: Term;
      readonly isFirst: boolean;
    }
  | { readonly id: number; readonly kind: 'after'; readonly frame: ObjectFrame | ArrayFrame; readonly gap: Term }
  /** What was written must be checked before the text continues. */
  | {
      readonly id: number;
      readonly kind: 'written-key';
      readonly frame: ObjectFrame;
      readonly which: number;
      readonly start: number;
    }
  | { readonly id: number; readonly kind: 'written-item'; readonly frame: ArrayFrame };

export interface PlaceSet {
  readonly places: readonly Place[];
  readonly isEnd: boolean;
  readonly next: (PlaceSet | undefined)[];
}

export interface Machine {
  readonly start: PlaceSet;
  readonly dead: PlaceSet;
  /** `position`: number of bytes before this one. */
  step(set: PlaceSet, byte: number, position: number): PlaceSet;
  /** Checks the written keys and items, and continues from those that are valid; `text`: everything so far. */
  settle(set: PlaceSet, text: Uint8Array): PlaceSet;
  /** What may follow if the lexemes of these places end here. */
  behind(places: readonly Place[], position: number): PlaceSet;
  /** 1 for each name that may come next, in the order of the shape's texts. */
  allowedNames(frame: ObjectFrame): Uint8Array;
  /** What may follow the closing quote of a name. */
  behindName(frame: ObjectFrame, name: number): PlaceSet;
  setOf(places: readonly Place[]): PlaceSet;
  readonly memory: PlaceMemory;
}

/** The memory of places, frames and sets. */
export interface PlaceMemory {
  /** The number of cached objects. */
  readonly size: number;
  /** How often the memory was cleared. */
  readonly generation: number;
  /** Clears the memory. Sets that are still in use must be rebuilt from their places: they cache steps into cleared sets. */
  forget(): void;
}
