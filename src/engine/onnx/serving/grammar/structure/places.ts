// Where a text is: what is being read, and the frames of what has been begun under it. Places and frames that are equal are one
// object; machine.ts makes them and goes from one to the next.
import type { Term } from '../lexemes/terms.ts';
import type { Form, JsonSyntax } from './forms.ts';
import type { ArrayShape, ObjectShape, Obligation } from './shapes.ts';

/** What comes behind a value. */
export type Frame =
  | { readonly id: number; readonly kind: 'end' }
  | { readonly id: number; readonly kind: 'sequence'; readonly parts: readonly Form[]; readonly at: number; readonly next: Frame }
  | { readonly id: number; readonly kind: 'repeat'; readonly form: Extract<Form, { kind: 'repeat' }>; readonly count: number; readonly next: Frame }
  | ObjectFrame
  | ArrayFrame; // prettier-ignore

export interface ObjectFrame {
  readonly id: number;
  readonly kind: 'object';
  readonly json: JsonSyntax;
  readonly shape: ObjectShape;
  readonly seen: ReadonlySet<number>;
  /** Different keys of classes, where they count. */
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
  /** Items begun. */
  readonly length: number;
  readonly counts: readonly number[];
  /** Where items must differ: those so far, and where in the text the last one began. */
  readonly used: readonly unknown[];
  readonly start: number;
  readonly next: Frame;
}

export type Place =
  | { readonly id: number; readonly kind: 'end' }
  | { readonly id: number; readonly kind: 'lexeme'; readonly term: Term; readonly next: Frame }
  | { readonly id: number; readonly kind: 'begin'; readonly json: JsonSyntax; readonly shape: ObjectShape | ArrayShape; readonly next: Frame }
  | { readonly id: number; readonly kind: 'key'; readonly frame: ObjectFrame; readonly gap: Term; readonly isFirst: boolean }
  | { readonly id: number; readonly kind: 'named'; readonly frame: ObjectFrame; readonly from: number; readonly to: number; readonly depth: number }
  | { readonly id: number; readonly kind: 'other'; readonly frame: ObjectFrame; readonly which: number; readonly term: Term; readonly start: number }
  | { readonly id: number; readonly kind: 'colon'; readonly frame: ObjectFrame; readonly value: Obligation; readonly gap: Term }
  | { readonly id: number; readonly kind: 'value'; readonly frame: ObjectFrame; readonly value: Obligation; readonly gap: Term }
  | { readonly id: number; readonly kind: 'item'; readonly frame: ArrayFrame; readonly gap: Term; readonly isFirst: boolean }
  | { readonly id: number; readonly kind: 'after'; readonly frame: ObjectFrame | ArrayFrame; readonly gap: Term }
  /** What was written must be looked at before it goes on. */
  | { readonly id: number; readonly kind: 'written-key'; readonly frame: ObjectFrame; readonly which: number; readonly start: number }
  | { readonly id: number; readonly kind: 'written-item'; readonly frame: ArrayFrame }; // prettier-ignore

export interface PlaceSet {
  readonly places: readonly Place[];
  readonly isEnd: boolean;
  readonly next: (PlaceSet | undefined)[];
}

export interface Machine {
  readonly start: PlaceSet;
  readonly dead: PlaceSet;
  /** `position`: bytes before this one. */
  step(set: PlaceSet, byte: number, position: number): PlaceSet;
  /** What waits to be looked at goes on; `text`: all so far. */
  settle(set: PlaceSet, text: Uint8Array): PlaceSet;
  /** What may follow where the lexemes of these places end. */
  behind(places: readonly Place[], position: number): PlaceSet;
  /** 1 for each name that may come next, in the order of the shape's texts. */
  allowedNames(frame: ObjectFrame): Uint8Array;
  /** What may follow the closing quote of a name. */
  behindName(frame: ObjectFrame, name: number): PlaceSet;
  setOf(places: readonly Place[]): PlaceSet;
  readonly memory: PlaceMemory;
}

/** Of places, frames and sets. */
export interface PlaceMemory {
  /** How many are remembered. */
  readonly size: number;
  /** How often it has forgotten. */
  readonly generation: number;
  /** Makes room. A set that is still in use must be asked for again, by its places: it remembers steps into what was forgotten. */
  forget(): void;
}
