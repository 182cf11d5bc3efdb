// What Python knows of a JSON object or list and JavaScript does not: which of its numbers are floats without a fraction, integers that were
// rounded, and the order of keys that look like integers. sent-json.ts notes it, and the text layer asks for it, so that chat templates write what Python would.
// A note belongs to one object: a copy has none, and everything else sees plain values.

export interface PythonForm {
  /** Keys (places of a list) of numbers that are floats to Python. Here they are integers, or the names of numbers that are not finite. */
  readonly floats: ReadonlySet<string>;
  /** Key → the integer that is rounded here. */
  readonly integers: ReadonlyMap<string, bigint>;
  /** All keys in the order in which they were sent; null: JavaScript has the same order. */
  readonly keys: readonly string[] | null;
}

const forms = new WeakMap<object, PythonForm>();

export const notePythonForm = (value: object, form: PythonForm): void => void forms.set(value, form);
export const pythonForm = (value: object): PythonForm | undefined => forms.get(value);

/** The copy, with the original's note: it may have keys more or less. */
export function asPythonKnows<T extends object>(copy: T, original: object): T {
  const form = forms.get(original);
  if (form) forms.set(copy, form);
  return copy;
}

/** As Python orders them. */
export function pythonKeys(value: object): readonly string[] {
  const sent = forms.get(value)?.keys;
  if (!sent) return Object.keys(value);
  return [...new Set([...sent.filter((key) => Object.hasOwn(value, key)), ...Object.keys(value)])];
}

/** The notes on a value and all within it, by object: a value that is sent to another thread takes them along. */
export function pythonFormsWithin(value: unknown, found = new Map<object, PythonForm>()): Map<object, PythonForm> {
  if (typeof value !== 'object' || value === null) return found;
  const form = forms.get(value);
  if (form) found.set(value, form);
  for (const part of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) pythonFormsWithin(part, found);
  return found;
}
