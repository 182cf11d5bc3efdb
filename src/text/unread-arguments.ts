// Arguments of past calls that are no JSON object, because max_tokens cut the call off or the model botched it. History is text: the prompt has them
// as they stand wherever the template writes arguments as text or as JSON. A template that walks through them gets what can be read.
import { parsePythonJson } from './python-json.ts';

export interface UnreadArguments {
  /** What the template gets for them. */
  take(text: string): unknown;
  readonly count: number;
  /** The text that the template wrote, with the arguments in their places. */
  restore(rendered: string): string;
}

/** `asObject`: the template walks through arguments, so it gets an object; otherwise it gets a mark, which is replaced in what it writes. */
export function createUnreadArguments(asObject: boolean): UnreadArguments {
  const texts: string[] = [];
  return {
    take(text) {
      texts.push(text);
      return asObject ? readableArguments(text) : mark(texts.length - 1);
    },
    get count() {
      return texts.length;
    },
    restore: (rendered) =>
      asObject
        ? rendered
        : texts.reduceRight(
            (text, each, index) => text.replaceAll(`"${mark(index)}"`, () => each).replaceAll(mark(index), () => each),
            rendered,
          ),
  };
}

const mark = (index: number): string => `WHETSTONE_ARGUMENTS_${index}_`;

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
