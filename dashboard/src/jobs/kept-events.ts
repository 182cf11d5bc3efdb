// The events of a job that a page holds: a bounded number, however long it stays open. If there are more gradient steps, every second
// one is dropped, then every second of the rest: curves keep their length and lose detail that no screen shows. Pure.
import type { JobEvent } from '../api/events.ts';

export interface KeptEvents {
  readonly events: readonly JobEvent[];
  /** How many the server sent. */
  readonly told: number;
}

const EVENTS_MAX = 4_000;

export const NO_EVENTS: KeptEvents = { events: [], told: 0 };

export function keepEvents({ events, told }: KeptEvents, news: readonly JobEvent[], max = EVENTS_MAX): KeptEvents {
  let kept = [...events, ...news];
  while (kept.length > max) {
    const fewer = everySecondStep(kept);
    if (fewer.length === kept.length) break;
    kept = fewer;
  }
  return { events: kept, told: told + news.length };
}

/** The newest is kept. */
function everySecondStep(events: readonly JobEvent[]): JobEvent[] {
  let stepsBehind = events.filter(isStep).length;
  return events.filter((event) => !isStep(event) || --stepsBehind % 2 === 0);
}

const isStep = ({ type }: JobEvent): boolean => type === 'gradient_step';
