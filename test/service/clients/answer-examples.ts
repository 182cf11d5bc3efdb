// Examples of answers are shortened answers of a server: how one is made, and whether a new answer still matches it. Values may
// differ, fields and their types may not; a null may be anything, as the schema defines it elsewhere. Knows no operation.
type Json = unknown;

/** A list of objects keeps one of every kind, one of numbers or words its first few; long strings are shortened. */
function shorten(value: Json): Json {
  if (typeof value === 'string') return value.length > TEXT_CHARACTERS ? `${value.slice(0, TEXT_CHARACTERS)}…` : value;
  if (Array.isArray(value))
    return value.some(isCompound) ? distinct(value.map(shorten), areAlike) : value.slice(0, PLAIN_ITEMS).map(shorten);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shorten(field)]));
}

const TEXT_CHARACTERS = 300;
const PLAIN_ITEMS = 4;
const isCompound = (value: Json): boolean => typeof value === 'object' && value !== null;

function areAlike(one: Json, other: Json): boolean {
  if (one === null || other === null) return true;
  if (Array.isArray(one) && Array.isArray(other)) return haveSameKinds(one, other, areAlike);
  if (!isRecord(one) || !isRecord(other)) return typeof one === typeof other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name in other && areAlike(one[name], other[name]))
  );
}

/** An answer as its example: JSON as a value, server-sent events and lines as text with one of every kind. Null: not useful to a reader. */
export function exampleOf(type: string, text: string): Json {
  if (type === 'application/json') return shorten(JSON.parse(text));
  if (type === 'text/event-stream') return distinct(eventsOf(text), isSameKindOfEvent).map(written).join('');
  if (type === 'application/jsonl')
    return `${distinct(linesOf(text).map(parsed), areAlike)
      .map((line) => JSON.stringify(line))
      .join('\n')}\n`;
  if (type === 'text/csv') return `${linesOf(text).slice(0, 2).join('\n')}\n`;
  if (type === 'text/plain') return `${linesOf(text).slice(0, PLAIN_LINES).join('\n')}\n`;
  return null;
}

const PLAIN_LINES = 8;

/** Whether `text`, of this type, still matches `example`. */
export function fitsExample(type: string, example: Json, text: string): boolean {
  const now = exampleOf(type, text);
  if (typeof example !== 'string' || typeof now !== 'string') return areAlike(example, now);
  if (type === 'text/event-stream') return haveSameKinds(eventsOf(example), eventsOf(now), isSameKindOfEvent);
  if (type === 'application/jsonl') return areAlike(linesOf(example).map(parsed), linesOf(now).map(parsed));
  return withoutNumbers(example) === withoutNumbers(now);
}

interface Event {
  /** Lines other than data. */
  readonly fields: readonly string[];
  readonly data: Json;
}

function eventsOf(text: string): Event[] {
  return text
    .split('\n\n')
    .map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith(':')))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const [data, fields] = [lines.filter(isData), lines.filter((line) => !isData(line))];
      return { fields, data: shorten(parsed(data.map((line) => line.slice('data: '.length)).join('\n'))) };
    });
}

const isData = (line: string): boolean => line.startsWith('data: ');

const written = ({ fields, data }: Event): string =>
  [...fields, `data: ${typeof data === 'string' ? data : JSON.stringify(data)}`, '', ''].join('\n');

/** Events are told apart by their types, wherever those occur, and by their fields. */
const isSameKindOfEvent = (one: Event, other: Event): boolean =>
  typeOf(one) === typeOf(other) && areAlike(one.data, other.data);

const typeOf = ({ fields, data }: Event): string =>
  [fields.find((line) => line.startsWith('event:')), isRecord(data) ? data['type'] : data].join(' ');

/** Parsed JSON; the text if it is not JSON, such as `[DONE]`. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const withoutNumbers = (text: string): string => text.replace(/-?\d[\d.e+-]*/g, '0');
const isRecord = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function distinct<T>(items: readonly T[], isLike: (one: T, other: T) => boolean): T[] {
  return items.reduce<T[]>((kept, item) => (kept.some((one) => isLike(one, item)) ? kept : [...kept, item]), []);
}

function haveSameKinds<T>(some: readonly T[], others: readonly T[], isLike: (one: T, other: T) => boolean): boolean {
  const covers = (those: readonly T[], these: readonly T[]) =>
    these.every((each) => those.some((one) => isLike(one, each)));
  return covers(some, others) && covers(others, some);
}
