// Loads a job's events from the first on, while the page is open. Events that arrive together are shown together: a job of a thousand
// steps draws a few times, not a thousand.
import { useEffect, useState } from 'preact/hooks';
import { followJob, type JobEvent } from '../api/events.ts';
import { keepEvents, NO_EVENTS, type KeptEvents } from './kept-events.ts';

const DRAW_MS = 250;

export interface JobEvents extends KeptEvents {
  readonly error: unknown;
  /** Those that were there when the page opened have come. */
  readonly isRead: boolean;
}

const NOTHING: JobEvents = { ...NO_EVENTS, error: null, isRead: false };

export function useJobEvents(id: string): JobEvents {
  const [shown, setShown] = useState(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    let news: JobEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (error: unknown = null) => {
      timer = undefined;
      if (stop.signal.aborted) return;
      const since = news;
      news = [];
      setShown((before) => ({ ...keepEvents(before, since), error, isRead: true }));
    };
    setShown(NOTHING);
    void (async () => {
      try {
        for await (const event of followJob(id, stop.signal)) {
          news.push(event);
          timer ??= setTimeout(draw, DRAW_MS);
        }
        timer ??= setTimeout(draw); // a job without events
      } catch (error) {
        draw(error);
      }
    })();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [id]);
  return shown;
}
