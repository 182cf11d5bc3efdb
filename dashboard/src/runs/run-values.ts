// What runs have in their configurations and summaries: which columns a table of them can have, which it begins with, and in what they
// differ. Pure.
import { byInterest } from '../charts/curves.ts';
import { measured } from '../ui/numbers.ts';

export type Scalar = number | string | boolean | null;

interface Logged {
  readonly config: Readonly<Record<string, unknown>>;
  readonly summary: Readonly<Record<string, unknown>>;
}

/** Values by name, made once: a table of thousands of runs reads them at every sorting. */
export interface Valued {
  readonly config: ReadonlyMap<string, Scalar>;
  readonly summary: ReadonlyMap<string, Scalar>;
}

export const valuesOf = ({ config, summary }: Logged): Valued => ({
  config: flatValues(config),
  summary: flatValues(summary),
});

export interface ValueColumn {
  /** `config/lr`, `summary/loss`: unique, and what the address says. */
  readonly id: string;
  readonly name: string;
  readonly of: keyof Valued;
  /** Some run has another value than the others, or none. */
  readonly differs: boolean;
  readonly isNumeric: boolean;
}

/** Of either kind; more would make the page slow: scripts that log so many names do not mean them as columns. */
export const COLUMNS_MAX = 500;
/** Columns at first, of either kind. */
const SHOWN_FIRST = 4;

/** Values by name. Those inside objects are named `outer.inner`; lists are their JSON. The library's own entries (`_step`) are left out. */
function flatValues(values: Readonly<Record<string, unknown>>, prefix = ''): Map<string, Scalar> {
  const flat = new Map<string, Scalar>();
  for (const [key, value] of Object.entries(values)) {
    if (prefix === '' && key.startsWith('_')) continue;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const inner = flatValues(value as Readonly<Record<string, unknown>>, `${prefix}${key}.`);
      for (const [name, each] of inner) flat.set(name, each);
    } else flat.set(prefix + key, Array.isArray(value) ? JSON.stringify(value) : (value as Scalar));
  }
  return flat;
}

/** Settings before results; of each, those in which the runs differ first, then what people look at first, then by name. */
export function columnsOf(runs: readonly Valued[]): ValueColumn[] {
  const columns = (['config', 'summary'] as const).flatMap((of) => {
    const seen = new Map<string, { values: Set<Scalar>; count: number; isNumeric: boolean }>();
    for (const run of runs) {
      for (const [name, value] of run[of]) {
        const known = seen.get(name) ?? { values: new Set(), count: 0, isNumeric: true };
        if (!seen.has(name) && seen.size >= COLUMNS_MAX) continue;
        if (known.values.size < 2) known.values.add(value);
        seen.set(name, { ...known, count: known.count + 1, isNumeric: known.isNumeric && isNumber(value) });
      }
    }
    return [...seen].map(([name, { values, count, isNumeric }]): ValueColumn => {
      const differs = values.size > 1 || count < runs.length;
      return { id: `${of}/${name}`, name, of, differs, isNumeric };
    });
  });
  const rank = ({ of, differs }: ValueColumn) => (of === 'summary' ? 2 : 0) + (differs ? 0 : 1);
  return columns.sort((a, b) => rank(a) - rank(b) || byInterest(a.name, b.name));
}

/** What a table shows before anything was chosen: settings in which the runs differ, and measured numbers. */
export function firstColumns(columns: readonly ValueColumn[]): string[] {
  const config = columns.filter(({ of, differs }) => of === 'config' && differs);
  const summary = columns.filter(({ of, isNumeric }) => of === 'summary' && isNumeric);
  return [...config.slice(0, SHOWN_FIRST), ...summary.slice(0, SHOWN_FIRST)].map(({ id }) => id);
}

export const valueOf = (run: Valued, { of, name }: Pick<ValueColumn, 'of' | 'name'>): Scalar | undefined =>
  run[of].get(name);

/** NaN and Infinity arrive as texts. */
const NOT_FINITE = ['NaN', 'Infinity', '-Infinity'];

const isNumber = (value: Scalar): boolean =>
  typeof value === 'number' || (typeof value === 'string' && NOT_FINITE.includes(value));

/** Runs without a value come last when the largest are first. */
export const sortValue = (value: Scalar | undefined, isNumeric: boolean): number | string => {
  if (!isNumeric) return value === undefined || value === null ? '' : String(value);
  return value === undefined || value === null || Number.isNaN(Number(value)) ? -Infinity : Number(value);
};

/** More are the rounding of a script's arithmetic. */
const DIGITS = 8;

/** Settings as they were given; measured numbers with the digits that mean something. */
export function inWords(value: Scalar | undefined, of: keyof Valued): string {
  if (value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  return of === 'summary' ? measured(value) : String(Number(value.toPrecision(DIGITS)));
}

interface Timed {
  readonly created_at: string;
  readonly updated_at: string;
  readonly summary: Readonly<Record<string, unknown>>;
}

/** `_runtime`, which the library logs, leaves out pauses of a run that was resumed; otherwise from its first to its last change. */
export function ranSeconds({ created_at: from, updated_at: to, summary }: Timed): number {
  const logged = summary['_runtime'] ?? (summary['_wandb'] as { runtime?: unknown } | undefined)?.runtime;
  return typeof logged === 'number' ? logged : (Date.parse(to) - Date.parse(from)) / 1000;
}
