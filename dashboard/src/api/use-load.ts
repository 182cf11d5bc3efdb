// What a page shows is asked for: while it comes, when it failed, when it is there. It may be asked for again, in time or because there
// is something new: then what is shown stays until the next answer, and a line that breaks meanwhile takes nothing away.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ApiError } from './client.ts';

export type Load<T> = Loading<T> & { readonly reload: () => void };

type Loading<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: unknown }
  /** `lost`: why it is not of now; null: it is. */
  | { readonly state: 'ready'; readonly value: T; readonly lost: unknown };

interface Freshness<T> {
  /** Asked for again and again, but not while nobody looks. */
  readonly everyMs?: number;
  /** No more, once a value is the last. */
  readonly isLast?: (value: T) => boolean;
  /** Changes when there is something new. */
  readonly version?: string;
}

/** Another thing, once one of `inputs` changes: nothing is shown of the one before. */
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
        return isLast(value);
      } catch (error) {
        show((before) => (before.state === 'ready' && isPassing(error) ? { ...before, lost: error } : failed(error)));
        return false;
      }
    };
    void repeat(ask, everyMs, stop.signal);
    return () => stop.abort();
  }, [...inputs, version, round, everyMs]);

  return { ...loaded, reload };
}

const failed = (error: unknown): Loading<never> => ({ state: 'failed', error });

/** The server does not answer, or cannot now: the thing itself may well be there. */
const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);

async function repeat(ask: () => Promise<boolean>, everyMs: number | undefined, signal: AbortSignal): Promise<void> {
  for (;;) {
    if ((await ask()) || everyMs === undefined) return;
    do await new Promise((resolve) => setTimeout(resolve, everyMs));
    while (document.hidden && !signal.aborted);
    if (signal.aborted) return;
  }
}
