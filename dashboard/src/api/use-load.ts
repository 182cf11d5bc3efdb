// Loads what a page shows: loading, failed, or ready. It can be loaded again, on a timer or because there is something new: then the
// shown value stays until the next one arrives, and a lost connection in between removes nothing. While the server does not answer, it is
// asked again, so that a page comes back with its server.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError } from './client.ts';

/** For pages that do not reload by themselves. */
const RETRY_MS = 3_000;

export type Load<T> = Loading<T> & { readonly reload: () => void };

type Loading<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  /** `lost`: why the value is out of date; null: it is current. */
  | { readonly state: 'ready'; readonly value: T; readonly lost: unknown };

interface Freshness<T> {
  /** Reloads at this interval, but not while the page is hidden. */
  readonly everyMs?: number;
  /** Stops reloading once a value is final. */
  readonly isLast?: (value: T) => boolean;
  /** Changes when there is something new. */
  readonly version?: string;
}

/** If one of `inputs` changes, something else is loaded, and the old value is no longer shown. */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { everyMs, isLast = () => false, version = '' }: Freshness<T> = {},
): Load<T> {
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  const [loaded, setLoaded] = useState<Loading<T>>({ state: 'loading' });

  useEffect(() => setLoaded({ state: 'loading' }), inputs);

  useEffect(() => {
    const stop = new AbortController();
    const show = (next: (before: Loading<T>) => Loading<T>) => void (stop.signal.aborted || setLoaded(next));
    const ask = async () => {
      try {
        const value = await load(stop.signal);
        show(() => ({ state: 'ready', value, lost: null }));
        return isLast(value) ? null : (everyMs ?? null);
      } catch (error) {
        show((before) => (before.state === 'ready' && isPassing(error) ? { ...before, lost: error } : failed(error)));
        return everyMs ?? (isPassing(error) ? RETRY_MS : null);
      }
    };
    void repeat(ask, stop.signal);
    return () => stop.abort();
  }, [...inputs, version, round, everyMs]);

  return { ...loaded, reload };
}

const failed = (error: unknown): Loading<never> => ({ state: 'failed', error });

/** The server does not answer, or cannot now: the requested thing may still exist. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

/** `ask` returns after how long to ask again; null: never. */
async function repeat(ask: () => Promise<number | null>, signal: AbortSignal): Promise<void> {
  for (;;) {
    const afterMs = await ask();
    if (afterMs === null) return;
    do await new Promise((resolve) => setTimeout(resolve, afterMs));
    while (document.hidden && !signal.aborted);
    if (signal.aborted) return;
  }
}
