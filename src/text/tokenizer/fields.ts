// Reads the parts of a tokenizer.json. What a part lacks, or has in another form than the library `tokenizers` accepts, is refused with its
// place in the file. Fields that the library does not know are ignored, as it ignores them. Knows no part's meaning.
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';

export interface Fields {
  /** Such as `pre_tokenizer.pretokenizers[1]`. */
  readonly place: string;
  readonly type: string;
  readonly text: (name: string) => string;
  /** One code point. */
  readonly character: (name: string) => string;
  readonly flag: (name: string, otherwise?: boolean) => boolean;
  /** A whole number that is not negative. */
  readonly count: (name: string, otherwise?: number) => number;
  readonly oneOf: <const T extends string>(name: string, values: readonly T[], otherwise?: T) => T;
  /** Null: it is absent, or null. */
  readonly optional: <T>(name: string, read: (name: string) => T) => T | null;
  readonly raw: (name: string) => unknown;
  /** The elements of a list of parts. */
  readonly parts: (name: string) => Fields[];
  readonly part: (name: string) => Fields;
  readonly refuse: (what: string) => AppError;
}

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 100));

/** Throws `bad_model_files` if `value` is not an object. */
export function fieldsOf(value: unknown, place: string): Fields {
  const refuse = (what: string) => new AppError('bad_model_files', `${place} ${what}.`);
  if (!isObject(value)) throw refuse(`must be an object, got ${shown(value)}`);
  const fields: Readonly<Record<string, unknown>> = value;

  function expect<T>(name: string, wanted: string, holds: (value: unknown) => value is T): T {
    const found = fields[name];
    if (holds(found)) return found;
    throw refuse(`must have ${name}, ${wanted}, got ${shown(found)}`);
  }

  const read: Fields = {
    place,
    type: typeof fields.type === 'string' ? fields.type : '',
    text: (name) => expect(name, 'a text', isText),
    character: (name) => expect(name, 'one character', isCharacter),
    flag: (name, otherwise) =>
      otherwise !== undefined && fields[name] === undefined ? otherwise : expect(name, 'true or false', isFlag),
    count: (name, otherwise) =>
      otherwise !== undefined && fields[name] === undefined ? otherwise : expect(name, 'a whole number', isCount),
    oneOf: (name, values, otherwise) =>
      otherwise !== undefined && fields[name] === undefined
        ? otherwise
        : expect(name, `one of ${values.join(', ')}`, (value): value is (typeof values)[number] =>
            (values as readonly unknown[]).includes(value),
          ),
    optional: (name, get) => ((fields[name] ?? null) === null ? null : get(name)),
    raw: (name) => fields[name],
    part: (name) => fieldsOf(fields[name], `${place}.${name}`),
    parts: (name) =>
      expect(name, 'a list', isList).map((element, index) => fieldsOf(element, `${place}.${name}[${index}]`)),
    refuse,
  };
  return read;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isCharacter = (value: unknown): value is string => typeof value === 'string' && Array.from(value).length === 1;
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** How deep parts may be nested: a stack has an end, and no tokenizer is deeper than three. */
const DEPTH_MAX = 32;

/** Three times those of any published tokenizer. A step may double a text, so fifty of them would never end. */
const PARTS_MAX = 16;

/** A part, or the parts of its sequences in each other, in order. `of`: the field with the parts of a sequence. */
export function flatten(part: Fields, of: string, depth = 0): Fields[] {
  if (part.type !== 'Sequence') return [part];
  if (depth > DEPTH_MAX) throw part.refuse('is nested too deeply');
  const parts = part.parts(of).flatMap((each) => flatten(each, of, depth + 1));
  if (parts.length > PARTS_MAX) throw part.refuse(`has ${parts.length} parts, and at most ${PARTS_MAX} are read`);
  return parts;
}
