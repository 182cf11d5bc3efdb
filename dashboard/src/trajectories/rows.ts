// Rows of the trajectory table, read as they arrive, and sorted. Unknown numbers come last in either direction.
import { send } from '../api/client.ts';
import { readJsonLines } from '../api/json-lines.ts';
import type { Source } from './sources.ts';

/** A line of `view=summary`. */
interface Summary {
  readonly group: number;
  readonly index: number;
  readonly reward: number;
  readonly advantage: number | null;
  readonly metrics: Readonly<Record<string, number | boolean>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly prompt: string | null;
  readonly answer: string | null;
  readonly finish_reason: string | null;
  readonly num_sampled_turns: number;
  readonly num_sampled_tokens: number;
  readonly is_trained?: boolean | null;
  readonly reason?: string | null;
}

export interface TrajectoryRow extends Summary {
  readonly key: string;
  readonly source: Source;
}

/** Rows of all sources, as they arrive. */
export async function* readRows(
  sources: readonly Source[],
  modelId: string,
  search: string,
  signal: AbortSignal,
): AsyncGenerator<TrajectoryRow[]> {
  for (const source of sources) {
    const query = { view: 'summary', ...(search === '' ? {} : { search }) } as const;
    const { body } =
      source.kind === 'job'
        ? await send('get', '/v1/preview/training-jobs/{training_job_id}/trajectories', {
            path: { training_job_id: source.id },
            query,
            signal,
          })
        : await send('get', '/v1/preview/models/{model_id}/logs/{log_id}/trajectories', {
            path: { model_id: modelId, log_id: source.id },
            query,
            signal,
          });
    for await (const batch of readJsonLines<Summary>(body!))
      yield batch.map((row) => ({ ...row, source, key: `${source.id}/${row.group}/${row.index}` }));
  }
}

export const SORT_KEYS = ['order', 'reward', 'advantage', 'num_sampled_tokens', 'num_sampled_turns'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export interface Sorting {
  readonly by: SortKey;
  readonly isDown: boolean;
}

/** Returns a new list; equal rows keep their order. */
export function sortRows(rows: readonly TrajectoryRow[], { by, isDown }: Sorting): readonly TrajectoryRow[] {
  if (by === 'order') return isDown ? rows.toReversed() : rows;
  const sign = isDown ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [a[by], b[by]];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (x - y);
  });
}
