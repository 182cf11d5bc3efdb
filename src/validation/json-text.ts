// Parses request bodies and rows: text → JSON as Python's clients write it (base/sent-json.ts), within limits, or the error and its place
// in Python's words.
import { isUtf8 } from 'node:buffer';
import { createShapeBudget, DEPTH_MAX, scanJsonShape, ShapeError, type Shape } from '#base/json-shape';
import { NumberLimitError, parseSentJson, type LongIntegers, type NumberLimits } from '#base/sent-json';
import { refuseHalfCharacters } from './half-characters.ts';
import { ValidationError } from './parse.ts';

/** The text of a body. Throws ValidationError if it is not UTF-8: what a decoder writes in place of broken bytes was never sent. */
export function decodeText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes)) throw notJson(brokenByte(bytes, text), 'Not UTF-8');
  return text;
}

/** The decoder writes U+FFFD for it; U+FFFD itself is three bytes. */
function brokenByte(bytes: Buffer, text: string): number {
  let [at, offset] = [0, 0];
  for (;;) {
    const next = text.indexOf('\ufffd', at);
    offset += Buffer.byteLength(text.slice(at, next));
    if (bytes.toString('latin1', offset, offset + 3) !== '\xef\xbf\xbd') return offset;
    [at, offset] = [next + 1, offset + 3];
  }
}

const ANY_SHAPE: Shape = { valuesMax: Infinity, keysMax: Infinity };

/** Both of the steps below at once, without halves of characters. Returns undefined if the text is empty. */
export function parseJson(text: string, shape: Shape = ANY_SHAPE): unknown {
  if (text.trim() === '') return undefined;
  const scan = scanShape(text, shape);
  while (!scan.next().done);
  const value = readJson(text, 'exact');
  refuseHalfCharacters(text, value);
  return value;
}

/** A number that is not finite takes longer to read than ten others, a long integer longer still; trajectories and schemas have fewer. */
const LIMITS: NumberLimits = {
  notFiniteMax: 250_000,
  longIntegersMax: 10_000,
  /** As Python's int() by default: longer numbers are not real input, and take quadratic time to convert. */
  digitsMax: 4_300,
  /** Each takes as long as a long integer; no prompt has as many. */
  notesMax: 10_000,
};

/** `rounded`: without notes too, so that log-probabilities need no second pass. */
export function readJson(text: string, integers: LongIntegers): unknown {
  try {
    return parseSentJson(text, integers, integers === 'rounded' ? { ...LIMITS, notesMax: 0 } : LIMITS);
  } catch (error) {
    if (error instanceof NumberLimitError) throw notJson(error.offset, error.message);
    if (text.length > LOCATED_CHARACTERS_MAX) throw notJson(0, 'Not valid JSON, somewhere after this position');
    const { offset, reason } = locateSyntaxError(text);
    throw notJson(offset, reason);
  }
}

/** Locating the error in a longer text would take longer than a tenth of a second. */
const LOCATED_CHARACTERS_MAX = 4_000_000;

/** Yields after each slice of a long text. Throws if the text has a different structure. */
export function* scanShape(text: string, shape: Shape): Generator<void> {
  try {
    yield* scanJsonShape(text, createShapeBudget(shape));
  } catch (error) {
    throw error instanceof ShapeError ? notJson(error.offset, error.message) : error;
  }
}

const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];

/** Where the nesting level opens. */
export const tooDeep = (offset: number): ValidationError => notJson(offset, `More than ${DEPTH_MAX} levels of nesting`);

export const notJson = (offset: number, reason: string): ValidationError =>
  new ValidationError([
    { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx: { error: reason } },
  ]);

interface SyntaxErrorAt {
  readonly offset: number;
  readonly reason: string;
}

/** V8 reports no position for most errors. Scans the text only if it is known to be invalid; error texts are Python's. */
export function locateSyntaxError(text: string): SyntaxErrorAt {
  let at = 0;
  const fail = (reason: string, offset = at): never => {
    throw new Broken(offset, reason);
  };
  const skipSpace = () => {
    while (' \t\n\r'.includes(text[at] ?? 'x')) at++;
  };
  const readString = () => {
    const start = at;
    for (;;) {
      const character = text.charCodeAt(++at);
      if (character === QUOTE) break;
      if (character === BACKSLASH) skipEscape();
      else if (Number.isNaN(character)) fail('Unterminated string starting at', start);
      else if (character < SPACE) fail('Invalid control character at');
    }
    at++;
  };
  const skipEscape = () => {
    const escaped = text.charCodeAt(at + 1);
    if (escaped === QUOTE || escaped === BACKSLASH || '/bfnrt'.includes(text[at + 1] ?? 'x')) at++;
    else if (/^u[0-9a-fA-F]{4}/.test(text.slice(at + 1, at + 6))) at += 5;
    else fail('Invalid \\escape');
  };
  // Open containers, innermost last: an explicit stack, so that deep nesting cannot overflow the call stack.
  const open: ('[' | '{')[] = [];
  try {
    for (;;) {
      skipSpace();
      const character = text[at];
      if (character === '{' || character === '[') {
        at++;
        skipSpace();
        if (text[at] === (character === '{' ? '}' : ']')) at++;
        else {
          open.push(character);
          if (character === '{') readKey();
          continue;
        }
      } else if (character === '"') readString();
      else {
        const scalar = /^(?:true|false|null|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(
          text.slice(at, at + 400),
        );
        if (!scalar) fail('Expecting value');
        at += scalar![0].length;
      }
      for (;;) {
        skipSpace();
        const container = open.at(-1);
        if (container === undefined) return { offset: at, reason: 'Extra data' };
        if (text[at] === ',') {
          at++;
          skipSpace();
          if (container === '{') readKey();
          break;
        }
        if (text[at] !== (container === '{' ? '}' : ']')) fail("Expecting ',' delimiter");
        at++;
        open.pop();
      }
    }
  } catch (error) {
    if (error instanceof Broken) return { offset: error.offset, reason: error.message };
    throw error;
  }

  function readKey(): void {
    if (text[at] !== '"') fail('Expecting property name enclosed in double quotes');
    readString();
    skipSpace();
    if (text[at] !== ':') fail("Expecting ':' delimiter");
    at++;
  }
}

class Broken extends Error {
  readonly offset: number;
  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}
