// Converts arguments that are literals as Gemma writes them, `a:1,b:[<escape>x<escape>]}`, to JSON, piece by piece: objects and lists,
// strings, and words whose type the tool's schema determines. Duplicate keys are passed on.
import { jsonText } from './json-text.ts';
import { parameterTypes, schemaWithin } from './parameter-types.ts';
import { typedValue } from './typed-value.ts';

export interface Dialect {
  /** What a string may begin with; it ends with the same. Longer ones come first. */
  readonly quotes: readonly string[];
  /** Opening bracket → closing one. Braces are objects, all others lists. */
  readonly brackets: Readonly<Record<string, string>>;
  /** A number or name; sticky. */
  readonly atom: RegExp;
  /** As JSON text, where the schema does not say its type. */
  readonly atomValue: (atom: string) => string;
}

export interface LiteralReader {
  /** As in CallReader. */
  read(text: string, from: number): number;
  readonly state: 'reading' | 'done' | 'broken';
  /** JSON text read since the last time. */
  take(): string;
  /** Nothing follows: a string whose end decides its type is passed on as far as it got. */
  cutOff(): void;
}

interface Frame {
  readonly kind: 'object' | 'list';
  readonly close: string;
  /** Begun so far. */
  items: number;
  /** Of the object or list, and of the value that comes next; undefined: unknown. */
  readonly schema: unknown;
  valueSchema: unknown;
  next: 'item' | 'colon' | 'value' | 'comma';
}

interface OpenString {
  readonly quote: string;
  readonly isKey: boolean;
  /** Where its text begins in what was written; null: it was passed on as it arrived. */
  readonly from: number | null;
}

const COLON = ':';
const SPACES = /\s*/y;
/** Ends where a separator or bracket stands. */
const BARE_KEY = /[^\s:=,(){}[\]<"']+/y;

/** The outermost object is already open; `root` is its schema, `close` ends it. */
export function createLiteralReader(dialect: Dialect, root: unknown, close: string): LiteralReader {
  const frames: Frame[] = [newFrame('object', close, root)];
  let string: OpenString | null = null;
  let state: LiteralReader['state'] = 'reading';
  let written = '{';

  /** Where it stopped; -1: more text is needed; -2: it cannot continue like this. */
  function step(text: string, at: number): number {
    if (string !== null) return readString(text, at, string);
    const frame = frames.at(-1)!;
    const from = at + matchAt(SPACES, text, at)!.length;
    if (from >= text.length) return from;
    const character = text[from]!;
    if (character === frame.close && (frame.next === 'item' || frame.next === 'comma')) return closeFrame(from);
    switch (frame.next) {
      case 'item':
        return frame.kind === 'object' ? readKey(text, from, frame) : readValue(text, from, frame);
      case 'colon':
        if (character !== COLON) return BROKEN;
        frame.next = 'value';
        written += ': ';
        return from + 1;
      case 'value':
        return readValue(text, from, frame);
      case 'comma':
        if (character !== ',') return BROKEN;
        frame.next = 'item';
        return from + 1;
    }
  }

  function closeFrame(at: number): number {
    written += frames.pop()!.kind === 'object' ? '}' : ']';
    if (frames.length === 0) state = 'done';
    else frames.at(-1)!.next = 'comma';
    return at + 1;
  }

  function beginItem(frame: Frame): void {
    if (frame.next !== 'item') return;
    if (frame.items > 0) written += ', ';
    frame.items++;
  }

  function readKey(text: string, at: number, frame: Frame): number {
    const quote = quoteAt(text, at);
    if (quote === WAIT) return WAIT;
    if (quote !== null) {
      beginItem(frame);
      return beginString(at, quote, true);
    }
    const key = matchAt(BARE_KEY, text, at);
    if (key === null) return BROKEN;
    if (at + key.length === text.length) return WAIT;
    beginItem(frame);
    written += JSON.stringify(key);
    keyRead(frame, key);
    return at + key.length;
  }

  function readValue(text: string, at: number, frame: Frame): number {
    const quote = quoteAt(text, at);
    if (quote === WAIT) return WAIT;
    if (quote !== null) {
      beginItem(frame);
      return beginString(at, quote, false);
    }
    const closing = dialect.brackets[text[at]!];
    if (closing !== undefined) {
      beginItem(frame);
      const kind = closing === '}' ? 'object' : 'list';
      written += kind === 'object' ? '{' : '[';
      frames.push(newFrame(kind, closing, schemaOfValue(frame)));
      return at + 1;
    }
    const atom = matchAt(dialect.atom, text, at);
    if (atom === null) return BROKEN;
    if (at + atom.length === text.length) return WAIT;
    beginItem(frame);
    const schema = schemaOfValue(frame);
    const word = atom.trimEnd();
    written += schema === undefined ? dialect.atomValue(word) : typedValue(word, parameterTypes(schema, root));
    frame.next = 'comma';
    return at + atom.length;
  }

  /** The quote at this position; null: none. */
  function quoteAt(text: string, at: number): string | typeof WAIT | null {
    for (const quote of dialect.quotes) {
      if (text.startsWith(quote, at)) return quote;
      if (quote.startsWith(text.slice(at))) return WAIT;
    }
    return null;
  }

  const keyRead = (frame: Frame, key: string): void => {
    frame.next = 'colon';
    frame.valueSchema = schemaWithin(frame.schema, key, root);
  };

  const schemaOfValue = (frame: Frame): unknown =>
    frame.kind === 'object' ? frame.valueSchema : schemaWithin(frame.schema, frame.items - 1, root);

  function beginString(at: number, quote: string, isKey: boolean): number {
    const schema = schemaOfValue(frames.at(-1)!);
    const isText = !isKey && (schema === undefined || parameterTypes(schema, root).types.has('string'));
    written += '"';
    string = { quote, isKey, from: isText ? null : written.length };
    return at + quote.length;
  }

  function endString({ isKey, from }: OpenString): void {
    written += '"';
    string = null;
    const frame = frames.at(-1)!;
    if (!isKey) frame.next = 'comma';
    if (from === null) return;
    const text = JSON.parse(written.slice(from - 1)) as string;
    if (isKey) keyRead(frame, text);
    else written = written.slice(0, from - 1) + typedValue(text, parameterTypes(schemaOfValue(frame), root));
  }

  function readString(text: string, from: number, open: OpenString): number {
    const { quote } = open;
    let at = from;
    while (at < text.length) {
      if (text.startsWith(quote, at)) {
        endString(open);
        return at + quote.length;
      }
      if (quote.startsWith(text.slice(at))) return at === from ? WAIT : at;
      written += jsonText(text[at++]!);
    }
    return at;
  }

  return {
    read(text, from) {
      let at = from;
      while (state === 'reading') {
        const next = step(text, at);
        if (next === BROKEN) state = 'broken';
        if (next === BROKEN || next === WAIT || (next === at && at >= text.length)) return at;
        at = next;
      }
      return at;
    },
    get state() {
      return state;
    },
    take() {
      const kept = string?.from == null ? written.length : string.from - 1;
      const taken = written.slice(0, kept);
      written = written.slice(kept);
      if (string?.from != null) string = { ...string, from: 1 };
      return taken;
    },
    cutOff() {
      if (string !== null) string = { ...string, from: null };
    },
  };
}

const newFrame = (kind: Frame['kind'], close: string, schema: unknown): Frame => ({
  kind,
  close,
  items: 0,
  schema,
  valueSchema: undefined,
  next: 'item',
});

const WAIT = -1;
const BROKEN = -2;

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}
