// Request bodies: bytes → JSON as Python's clients write it. Two things that JSON.parse would lose are kept as strings,
// which the lax schemas read: integers beyond 2^53 (seeds), and the bare tokens NaN and Infinity.
import { ValidationError } from './schema/validation.ts';

/** Templates, grammars and schemas walk values by recursion; what people nest stays far below. */
export const DEPTH_MAX = 128;

/** `inexact integers`: those beyond 2^53 are rounded, as JSON.parse does; logprobs with many digits need no second look. */
export function parseJson(text: string, mode: 'exact integers' | 'inexact integers' = 'exact integers'): unknown {
  if (text.trim() === '') return undefined;
  refuseDepth(text);
  const source = mode === 'exact integers' && /\d{16}/.test(text) ? quoteLongIntegers(text) : text;
  try {
    return JSON.parse(source) as unknown;
  } catch {
    const quoted = quoteNotFinite(text);
    try {
      if (quoted !== text) return JSON.parse(quoted) as unknown;
    } catch {
      // reported below, for the text as it came
    }
  }
  const { offset, reason } = findSyntaxError(quoteNotFinite(text));
  throw new ValidationError([
    { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx: { error: reason } },
  ]);
}

function refuseDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      if (++depth > DEPTH_MAX) throw tooDeep(at);
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth--;
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Of the string that opens there: its closing quote, or the end of a text that has none. */
function endOfString(text: string, opening: number): number {
  for (let end = text.indexOf('"', opening + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** Where the level opens. */
export const tooDeep = (offset: number): ValidationError =>
  new ValidationError([
    {
      type: 'json_invalid',
      loc: ['body', offset],
      msg: 'JSON decode error',
      input: {},
      ctx: { error: `More than ${DEPTH_MAX} levels of nesting` },
    },
  ]);

function quoteLongIntegers(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
}

function quoteNotFinite(text: string): string {
  if (!/NaN|Infinity/.test(text)) return text;
  return text.replace(/"(?:[^"\\]|\\.)*"|-?Infinity|NaN/gs, (token) => (token.startsWith('"') ? token : `"${token}"`));
}

interface SyntaxErrorAt {
  readonly offset: number;
  readonly reason: string;
}

/** V8 gives no position for most errors. Walks the text only when it is known to be broken; reasons as Python words them. */
export function findSyntaxError(text: string): SyntaxErrorAt {
  let at = 0;
  const fail = (reason: string, offset = at): never => {
    throw new Broken(offset, reason);
  };
  const skipSpace = () => {
    while (' \t\n\r'.includes(text[at] ?? 'x')) at++;
  };
  const readString = () => {
    const start = at++;
    for (;;) {
      const character = text[at];
      if (character === undefined) fail('Unterminated string starting at', start);
      if (character === '"') break;
      if (character! < ' ') fail('Invalid control character at');
      if (character === '\\') {
        const escape = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(at + 1, at + 6));
        if (!escape) fail('Invalid \\escape');
        at += escape![0].length;
      }
      at++;
    }
    at++;
  };
  // Containers that are open, innermost last: an explicit stack, so that deep nesting cannot overflow ours.
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
        const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(
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
