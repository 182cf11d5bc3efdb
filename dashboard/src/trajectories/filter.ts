// Which trajectories of a step are shown, and in which order. All of it is in the page's address, so that a link shows what its sender
// saw. Searching for text is the server's; the rest is decided here, over the rows that have arrived. Pure.
import { nameSkip } from '../groups/skip-reasons.ts';
import { SORT_KEYS, type Sorting, type TrajectoryRow } from './rows.ts';

interface Bounds {
  /** Null: no bound. */
  readonly min: number | null;
  readonly max: number | null;
}

export interface Filter {
  readonly reward: Bounds;
  /** Of all sampled tokens. */
  readonly tokens: Bounds;
  /** '': all; `trained`, `not trained`, or a reason as `nameSkip` names it. */
  readonly training: string;
  /** '': none. */
  readonly metric: string;
  readonly ofMetric: Bounds;
  /** Name of a value of the metadata; '': none. */
  readonly meta: string;
  /** A part of it, in any case. */
  readonly has: string;
}

/** Everything that the address says about the rows. */
export interface RowChoice extends Filter {
  readonly sorting: Sorting;
  /** Key of the row that is open; '': none. */
  readonly row: string;
}

export function readRowChoice(query: URLSearchParams): RowChoice {
  const text = (name: string): string => query.get(name) ?? '';
  const number = (name: string): number | null => {
    const said = query.get(name);
    return said === null || said.trim() === '' || !Number.isFinite(Number(said)) ? null : Number(said);
  };
  const bounds = (name: string): Bounds => ({ min: number(`${name}_min`), max: number(`${name}_max`) });
  const [, minus, by] = /^(-?)(.*)$/s.exec(text('sort'))!;
  return {
    ...{ reward: bounds('reward'), tokens: bounds('tokens'), training: text('training') },
    ...{ metric: text('metric'), ofMetric: bounds('metric'), meta: text('meta'), has: text('has'), row: text('row') },
    sorting: { by: SORT_KEYS.find((key) => key === by) ?? 'order', isDown: minus === '-' },
  };
}

/** `-reward`: the greatest first. Null: as they were sent. */
export const sortingInAddress = ({ by, isDown }: Sorting): string | null =>
  by === 'order' && !isDown ? null : `${isDown ? '-' : ''}${by}`;

export const isFiltered = ({ reward, tokens, training, metric, ofMetric, meta, has }: Filter): boolean =>
  [reward, tokens, ...(metric === '' ? [] : [ofMetric])].some(({ min, max }) => min !== null || max !== null) ||
  training !== '' ||
  (meta !== '' && has !== '');

/** What changes in the address when nothing is to be left out. */
export const NO_FILTER = Object.fromEntries(
  [
    'reward_min',
    'reward_max',
    'tokens_min',
    'tokens_max',
    'training',
    'metric',
    'metric_min',
    'metric_max',
    'meta',
    'has',
  ].map((name) => [name, null]),
);

export function filterRows(rows: readonly TrajectoryRow[], filter: Filter): readonly TrajectoryRow[] {
  if (!isFiltered(filter)) return rows;
  const { reward, tokens, training, metric, ofMetric, meta, has } = filter;
  const isBound = ofMetric.min !== null || ofMetric.max !== null;
  const part = has.toLowerCase();
  return rows.filter((row) => {
    if (!isWithin(row.reward, reward) || !isWithin(row.num_sampled_tokens, tokens)) return false;
    if (training !== '' && !trainingOf(row).includes(training)) return false;
    if (metric !== '' && isBound && !isWithin(row.metrics[metric], ofMetric)) return false;
    return meta === '' || has === '' || inWords(row.metadata[meta]).toLowerCase().includes(part);
  });
}

const TRAINED = 'trained';
const NOT_TRAINED = 'not trained';

/** What a row counts as: a truncated trajectory was trained, and has a reason. */
function trainingOf({ is_trained: isTrained, reason }: TrajectoryRow): readonly string[] {
  const trained = isTrained === true ? [TRAINED] : isTrained === false ? [NOT_TRAINED] : [];
  return reason ? [...trained, nameSkip(reason)] : trained;
}

/** Booleans count as 0 and 1, as in means. A row without the number is not within any bounds. */
function isWithin(value: number | boolean | undefined, { min, max }: Bounds): boolean {
  if (min === null && max === null) return true;
  if (value === undefined) return false;
  return (min === null || Number(value) >= min) && (max === null || Number(value) <= max);
}

const inWords = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** What the rows can be filtered by, sorted. */
export function namesIn(rows: readonly TrajectoryRow[]) {
  const [metrics, metadata, training] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const row of rows) {
    for (const name in row.metrics) metrics.add(name);
    for (const name in row.metadata) metadata.add(name);
    for (const name of trainingOf(row)) training.add(name);
  }
  return { metrics: [...metrics].sort(), metadata: [...metadata].sort(), training: [...training].sort() };
}
