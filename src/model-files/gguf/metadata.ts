// Values of a GGUF file's metadata by key, or a refusal that names the file and the key. Keys of an architecture start with its name.
import type { AppError } from '#domain/errors';
import { badGguf, type GgufValue } from './gguf-header.ts';

export interface Metadata {
  readonly architecture: string;
  refuse(problem: string): AppError;
  /** Null if the key is missing or has another type. */
  text(key: string): string | null;
  texts(key: string): readonly string[] | null;
  numbers(key: string): readonly number[] | null;
  number(key: string): number | null;
  flag(key: string): boolean | null;
  /** True and false, or 1 and 0. */
  flags(key: string): readonly boolean[] | null;
  /** A key of the architecture: `own('block_count')`. A list of equal numbers, one per layer, counts as that number. */
  own(key: string): number | null;
  ownText(key: string): string | null;
  /** Throws if it is missing. */
  needed(key: string): number;
  keys(): readonly string[];
}

export function readMetadata(metadata: ReadonlyMap<string, GgufValue>, path: string): Metadata {
  const refuse = (problem: string) => badGguf(path, problem);
  const text = (key: string) => ofType<string>(metadata.get(key), 'string');
  const number = (key: string) => ofType<number>(metadata.get(key), 'number');
  const numbers = (key: string) => listOf<number>(metadata.get(key), 'number');
  const architecture = text('general.architecture');
  if (architecture === null) throw refuse('its metadata has no general.architecture');
  const own = (key: string): number | null => {
    const each = numbers(`${architecture}.${key}`);
    if (each === null) return number(`${architecture}.${key}`);
    if (new Set(each).size === 1) return each[0]!;
    throw refuse(`${architecture}.${key} differs from layer to layer, which is not supported`);
  };
  return {
    architecture,
    refuse,
    text,
    texts: (key) => listOf<string>(metadata.get(key), 'string'),
    numbers,
    number,
    flag: (key) => ofType<boolean>(metadata.get(key), 'boolean'),
    flags: (key) => listOf<boolean>(metadata.get(key), 'boolean') ?? numbers(key)?.map(Boolean) ?? null,
    own,
    ownText: (key) => text(`${architecture}.${key}`),
    needed(key) {
      const value = own(key);
      if (value === null) throw refuse(`its metadata has no ${architecture}.${key}`);
      return value;
    },
    keys: () => [...metadata.keys()],
  };
}

const ofType = <T extends GgufValue>(value: GgufValue | undefined, type: string): T | null =>
  typeof value === type ? (value as T) : null;

const listOf = <T extends number | string | boolean>(
  value: GgufValue | undefined,
  type: string,
): readonly T[] | null =>
  typeof value === 'object' && value.every((item) => typeof item === type) ? (value as readonly T[]) : null;
