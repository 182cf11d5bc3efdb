// JSON as Python reads and writes it. Models were trained on prompts made in Python, where `2.0` stays a float, 1e-7 is written 1e-07, and
// integers have no limit. A prompt that differs in such a detail has other tokens than the model was trained on.
import { pythonForm, pythonKeys, type PythonForm } from '#base/python-form';
import { AppError } from '#domain/errors';

/** A number that Python would hold as a float, even if it has no fraction. */
export class PythonFloat {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** The parts of a value that was read from a client's JSON, as Python has them: keys in their order, floats as PythonFloat. */
export function pythonEntries(value: object): [string, unknown][] {
  const form = pythonForm(value);
  const parts = value as Readonly<Record<string, unknown>>;
  return pythonKeys(value).map((key) => [key, form ? pythonPart(form, key, parts[key]) : parts[key]]);
}

const pythonPart = ({ floats, integers }: PythonForm, key: string, part: unknown): unknown =>
  floats.has(key) ? new PythonFloat(Number(part)) : (integers.get(key) ?? part);

export function pythonItems(list: readonly unknown[]): readonly unknown[] {
  const form = pythonForm(list);
  return form ? list.map((item, i) => pythonPart(form, String(i), item)) : list;
}

/**
 * Integers beyond 2^53 become bigint, numbers written with a point or an exponent PythonFloat, and objects Maps, which keep the order of
 * all keys. NaN and Infinity are numbers, as for Python. Throws SyntaxError.
 */
export function parsePythonJson(text: string): unknown {
  // Throws unless valid, so that the scan below can be simple.
  JSON.parse(text.replace(STRING_OR_NAMED_NUMBER, (token) => (token.startsWith('"') ? token : '0')));
  // Every string gets a prefix and every number becomes a string with another prefix, so that they cannot be confused.
  const tagged = text.replace(STRING_OR_NUMBER, (literal: string, inner: string | undefined) =>
    inner === undefined ? `"n${literal}"` : `"s${inner}"`,
  );
  return untag(JSON.parse(tagged));
}

const STRING_OR_NAMED_NUMBER = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;
const STRING_OR_NUMBER = /"((?:[^"\\]|\\.)*)"|-?\d[\d.eE+-]*|-?Infinity|NaN/g;

function untag(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith('s') ? value.slice(1) : parseNumber(value.slice(1));
  if (Array.isArray(value)) return value.map(untag);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key.slice(1), untag(item)]));
}

function parseNumber(literal: string): number | bigint | PythonFloat {
  if (/[.eENI]/.test(literal)) return new PythonFloat(Number(literal));
  const integer = Number(literal) + 0; // Python's integers have no -0
  return Number.isSafeInteger(integer) ? integer : BigInt(literal);
}

/** As Python's repr: the shortest digits that read back equal; an exponent from 1e16 on and below 1e-4. */
export function pythonFloatText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  if (exponent >= 0) return Number.isInteger(value) ? `${value}.0` : String(value);
  const sign = value < 0 ? '-' : '';
  return `${sign}0.${'0'.repeat(-exponent - 1)}${mantissa.replace(/[-.]/g, '')}`;
}

/** A dict whose keys may be numbers, or written alike: their text and values, in their order. */
export class DictEntries {
  readonly entries: readonly (readonly [string, unknown])[];
  constructor(entries: readonly (readonly [string, unknown])[]) {
    this.entries = entries;
  }
}

export interface DumpOptions {
  /** Spaces, or the text that stands for one level. */
  readonly indent: number | string | null;
  /** Separators between items, and between key and value. Null: Python's choice, which depends on `indent`. */
  readonly separators: readonly [string, string] | null;
  readonly ensureAscii: boolean;
}

/** `json.dumps`. Maps and entries stand for dicts: their keys keep their order. */
export function pythonJson(value: unknown, options: DumpOptions): string {
  const { indent, separators, ensureAscii } = options;
  const [betweenItems, afterKey] = separators ?? (indent === null ? [', ', ': '] : [',', ': ']);
  const text = (string: string) => (ensureAscii ? escapeNonAscii(JSON.stringify(string)) : JSON.stringify(string));

  function enclose(open: string, items: readonly string[], close: string, depth: number): string {
    if (items.length === 0) return open + close;
    if (indent === null) return open + items.join(betweenItems) + close;
    const level = typeof indent === 'string' ? indent : ' '.repeat(indent);
    const line = `\n${level.repeat(depth)}`;
    const inner = line + level;
    return open + inner + items.join(betweenItems + inner) + line + close;
  }
  function write(item: unknown, depth: number): string {
    if (item === null || item === undefined) return 'null';
    if (typeof item === 'string') return text(item);
    if (typeof item === 'boolean' || typeof item === 'bigint') return String(item);
    if (typeof item === 'number') return Number.isInteger(item) ? String(item) : pythonFloatText(item);
    if (item instanceof PythonFloat) return pythonFloatText(item.value);
    if (Array.isArray(item))
      return enclose(
        '[',
        item.map((part) => write(part, depth + 1)),
        ']',
        depth,
      );
    if (item instanceof Map || item instanceof DictEntries) {
      const entries = item instanceof Map ? [...(item as Map<string, unknown>)] : item.entries;
      const members = entries.map(([key, part]) => text(key) + afterKey + write(part, depth + 1));
      return enclose('{', members, '}', depth);
    }
    throw new AppError(
      'invalid_request',
      `The chat template writes a value of type ${typeof item} as JSON, which cannot represent it.`,
    );
  }
  return write(value, 0);
}

const escapeNonAscii = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
