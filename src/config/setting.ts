// What a setting is, and how its value is found: a flag wins over a variable, which wins over the default. Errors name the flag
// or variable that was used. Which settings there are is settings.ts.
import { UsageError } from '#domain/errors';
import type { ValueType } from './value-types.ts';

export interface Setting<T, D extends T | null = T | null> {
  /** As Commander reads it; the table's key is its name in camel case. */
  readonly flag?: string;
  readonly variable?: string;
  readonly value: ValueType<T>;
  readonly default: D;
  /** Where the default depends on the machine, or null stands for something. */
  readonly defaultText?: string;
  readonly help: string;
  /** Of the default. */
  readonly reason?: string;
  /** Its text appears in no message. */
  readonly secret?: true;
}

/** Lets the compiler compare the default with the type; only where the default is null can the value be. */
export function setting<T>(declared: Setting<T, NoInfer<T>>): Setting<T, T>;
export function setting<T>(declared: Setting<T, null>): Setting<T, null>;
export function setting<T>(declared: Setting<T>): Setting<T> {
  return declared;
}

export type SettingTable = Readonly<Record<string, Setting<unknown>>>;

export type ValuesOf<S extends SettingTable> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T, infer D> ? T | D : never;
};

/** A switch is true; what may be repeated is a list. */
export type FlagValue = string | boolean | readonly string[];
export type Flags<S extends SettingTable> = Readonly<Partial<Record<keyof S, FlagValue | undefined>>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** Throws `invalid_request`. */
export function readSettings<S extends SettingTable>(table: S, flags: Flags<S>, env: Environment): ValuesOf<S> {
  const values = Object.entries(table).map(([key, each]) => [key, readSetting(each, flags[key], env)]);
  return Object.fromEntries(values) as ValuesOf<S>;
}

function readSetting(declared: Setting<unknown>, flag: FlagValue | undefined, env: Environment): unknown {
  const { value, secret } = declared;
  const given = fromFlag(declared, flag) ?? fromVariable(declared, env);
  if (given === null) return declared.default;
  const read = value.parse(given.texts);
  if (read !== null) return read;
  const instead = secret ? '' : `, not "${given.texts.join(',')}"`;
  throw new UsageError(`${given.name} must be ${value.rule}${instead}.${hintOf(value)}`);
}

const hintOf = ({ hint }: ValueType<unknown>): string => (hint === undefined ? '' : ` ${hint}`);

interface Given {
  readonly name: string;
  readonly texts: readonly string[];
}

function fromFlag({ flag }: Setting<unknown>, given: FlagValue | undefined): Given | null {
  if (flag === undefined || given === undefined) return null;
  return { name: flagName(flag), texts: typeof given === 'object' ? given : [String(given)] };
}

/** Set to nothing counts as not set. */
function fromVariable({ variable, value }: Setting<unknown>, env: Environment): Given | null {
  const text = variable === undefined ? '' : (env[variable]?.trim() ?? '');
  if (variable === undefined || text === '') return null;
  return { name: variable, texts: value.form === 'many' ? text.split(',').map((each) => each.trim()) : [text] };
}

/** `--port <number>` → `--port` */
const flagName = (flag: string): string => flag.split(' ')[0]!;
