// Arguments of past calls that are no JSON object, because max_tokens cut the call off or the model botched it. History is text: the prompt has them
// as they stand wherever the template writes arguments as text or as JSON. A template that walks through them gets what can be read.
import { createHash } from 'node:crypto';
import { parsePythonJson } from './python-json.ts';

export interface UnreadArguments {
  /** What the template gets for them. */
  take(text: string): unknown;
  readonly count: number;
  /** Whether the last text that was restored has each of them. */
  readonly areWritten: boolean;
  /** The text that the template wrote, with the arguments in their places. */
  restore(rendered: string): string;
}

/**
 * `as`: an object, for a template that walks through arguments; otherwise a mark, which is replaced in what it writes. `other` marks have
 * other characters, and more of them: a template that looks into a mark writes another text with them. `request` is all that the
 * template gets: no mark occurs in it.
 */
export function createUnreadArguments(as: 'object' | 'mark' | 'other mark', request: () => string): UnreadArguments {
  const texts: string[] = [];
  let areWritten = true;
  const markOf = createMarks(as === 'mark' ? 0 : DIGITS, request);
  return {
    take(text) {
      texts.push(text);
      return as === 'object' ? readableArguments(text) : markOf(texts.length - 1);
    },
    get count() {
      return texts.length;
    },
    get areWritten() {
      return areWritten;
    },
    restore(rendered) {
      if (as === 'object') return rendered;
      areWritten = texts.every((_, index) => rendered.includes(markOf(index)));
      return texts.reduceRight((text, each, index) => {
        const mark = markOf(index);
        return text.replaceAll(`"${mark}"`, () => each).replaceAll(mark, () => each);
      }, rendered);
    },
  };
}

/** Marks have five of the ten digits, which no filter changes: not `lower`, not an escape. */
const DIGITS = 5;
const [OWN_LENGTH, OTHER_LENGTH, PLACE_LENGTH] = [20, 23, 10];

/** Place of the arguments → their mark, of the digits from `first` on. Made when the first is needed. */
function createMarks(first: number, request: () => string): (place: number) => string {
  const digits = (values: readonly number[]) => values.map((value) => first + (value % DIGITS)).join('');
  let own: string | null = null;
  return (place) => {
    own ??= firstFree(request(), (salt) =>
      digits([
        ...createHash('sha256')
          .update(String(salt))
          .digest()
          .subarray(0, first === 0 ? OWN_LENGTH : OTHER_LENGTH),
      ]),
    );
    return own + digits(Array.from({ length: PLACE_LENGTH }, (_, i) => Math.floor(place / DIGITS ** i)));
  };
}

function firstFree(text: string, make: (salt: number) => string): string {
  for (let salt = 0; ; salt++) if (!text.includes(make(salt))) return make(salt);
}

/** Where a value of a cut-off text may end. */
const CUTS_MAX = 200;

/** The properties that the beginning of a JSON object has; none for null; if it is no object, one property with the whole text. */
function readableArguments(text: string): ReadonlyMap<string, unknown> {
  if (text.trim() === 'null') return new Map();
  let end = text.length;
  for (let cuts = 0; cuts < CUTS_MAX && end > 0; cuts++) {
    const part = text.slice(0, end);
    const value = parsed(part + closing(part));
    if (value !== null) return value;
    end = Math.max(...[',', '{', '[', '"'].map((each) => part.lastIndexOf(each, end - 2) + 1));
    if (end < part.length && part[end - 1] === ',') end--;
  }
  return new Map([['arguments', text]]);
}

function parsed(json: string): ReadonlyMap<string, unknown> | null {
  try {
    const value = parsePythonJson(json);
    return value instanceof Map && value.size > 0 ? (value as Map<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** What closes the strings and brackets that are open at the end. */
function closing(text: string): string {
  const open: string[] = [];
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (quoted && character === '\\') at++;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '{') open.push('}');
    else if (character === '[') open.push(']');
    else if (character === '}' || character === ']') open.pop();
  }
  return (quoted ? '"' : '') + open.reverse().join('');
}
