// How much a JSON text makes of few bytes: values, different keys and levels, counted before anything is made of it. While objects, lists and
// their contents are created no other request is served, and new keys cost the most. Knows no request: whoever reads several texts for one
// gives them one budget. Whether the text is valid JSON is seen later.
import { endOfString } from './sent-json.ts';

export interface Shape {
  readonly valuesMax: number;
  /** Number of distinct keys. */
  readonly keysMax: number;
}

/** A body that is parsed in one step: room for lists as long as a vocabulary, and objects with as many keys; a tenth of a second to read. */
export const BODY_SHAPE: Shape = { valuesMax: 250_000, keysMax: 50_000 };

/** Templates, grammars and schemas traverse values recursively; real requests are nested far less deeply. */
export const DEPTH_MAX = 128;

/** What one request may still make. */
export interface ShapeBudget extends Shape {
  values: number;
  readonly keys: Set<string>;
}

export const createShapeBudget = (shape: Shape): ShapeBudget => ({ ...shape, values: 0, keys: new Set() });

export class ShapeError extends Error {
  /** A character of the text. */
  readonly offset: number;
  /** Which bound it exceeds. */
  readonly of: 'depth' | 'values' | 'keys';

  constructor(of: ShapeError['of'], offset: number, message: string) {
    super(message);
    this.offset = offset;
    this.of = of;
  }
}

/** A long text takes a tenth of a second; other requests can be served between its slices. */
export const SCANNED_CHARACTERS = 1_000_000;

const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Yields after each slice. Throws ShapeError as soon as the budget is spent. */
export function* scanJsonShape(text: string, budget: ShapeBudget): Generator<void> {
  const { valuesMax, keysMax, keys } = budget;
  let [depth, values, opening, sliceEnd] = [0, budget.values + 1, -1, SCANNED_CHARACTERS];
  for (let at = 0; at < text.length; at++) {
    if (at >= sliceEnd) {
      yield;
      sliceEnd = at + SCANNED_CHARACTERS;
    }
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      opening = at;
      at = endOfString(text, at);
    } else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      if (++depth > DEPTH_MAX) throw new ShapeError('depth', at, `More than ${DEPTH_MAX} levels of nesting`);
      values++;
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth--;
    else if (character === COMMA) values++;
    else if (character === COLON && keysMax < Infinity && opening >= 0) {
      keys.add(text.slice(opening, at));
      opening = -1; // each string is scanned only once, however many colons follow
      if (keys.size > keysMax) throw new ShapeError('keys', at, `More than ${keysMax} different keys`);
    }
    if (values > valuesMax) throw new ShapeError('values', at, `More than ${valuesMax} values`);
  }
  budget.values = values;
}

/** For a text that is short, or scanned where no other request waits. Throws as above. */
export function checkJsonShape(text: string, budget: ShapeBudget): void {
  const scan = scanJsonShape(text, budget);
  while (!scan.next().done);
}
