// Loads the trajectories of some sources; the list grows as they arrive.
import { useEffect, useState } from 'preact/hooks';
import { readRows, type TrajectoryRow } from './rows.ts';
import type { Source } from './sources.ts';

export interface GrowingRows {
  readonly rows: readonly TrajectoryRow[];
  readonly isWhole: boolean;
  readonly error: unknown;
}

const NONE: GrowingRows = { rows: [], isWhole: false, error: null };
/** How often a growing table is redrawn. */
const DRAW_MS = 150;

export function useRows(modelId: string, sources: readonly Source[], search: string): GrowingRows {
  const [read, setRead] = useState(NONE);
  const key = sources.map(({ id }) => id).join(' ');
  useEffect(() => {
    const stop = new AbortController();
    setRead(NONE);
    void grow(modelId, sources, search, stop.signal, (next) => void (stop.signal.aborted || setRead(next)));
    return () => stop.abort();
  }, [modelId, key, search]);
  return read;
}

async function grow(
  modelId: string,
  sources: readonly Source[],
  search: string,
  signal: AbortSignal,
  show: (read: GrowingRows) => void,
): Promise<void> {
  const rows: TrajectoryRow[] = [];
  let shownMs = performance.now();
  try {
    for await (const batch of readRows(sources, modelId, search, signal)) {
      for (const row of batch) rows.push(row);
      if (performance.now() - shownMs < DRAW_MS) continue;
      show({ rows: rows.slice(), isWhole: false, error: null });
      shownMs = performance.now();
    }
    show({ rows, isWhole: true, error: null });
  } catch (error) {
    show({ rows, isWhole: true, error });
  }
}
