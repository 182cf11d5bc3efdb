// The events of a job that a page holds: a bounded number, however long it stays open. If there are more gradient steps, every second
// one is dropped, then every second of the rest: curves keep their length and lose detail that no screen shows. Each knows what was counted
// up to it, dropped steps included. Pure.
import type { JobEvent } from '../api/events.ts';

interface Counted {
  /** Null: a gradient step did not say. */
  readonly tokens: number | null;
  readonly samples: number | null;
}

/** `counted`: all up to and with this event. */
export type KeptEvent = JobEvent & { readonly counted: Counted };

export interface KeptEvents {
  readonly events: readonly KeptEvent[];
  /** How many the server sent. */
  readonly total: number;
  readonly counted: Counted;
}

const EVENTS_MAX = 4_000;

export const NO_EVENTS: KeptEvents = { events: [], total: 0, counted: { tokens: 0, samples: 0 } };

export function keepEvents(before: KeptEvents, news: readonly JobEvent[], max = EVENTS_MAX): KeptEvents {
  let { counted } = before;
  let kept: KeptEvent[] = [...before.events];
  for (const event of news) {
    if (isStep(event)) counted = countStep(counted, event);
    kept.push({ ...event, counted });
  }
  while (kept.length > max) {
    const fewer = everySecondStep(kept);
    if (fewer.length === kept.length) break;
    kept = fewer;
  }
  return { events: kept, total: before.total + news.length, counted };
}

function countStep({ tokens, samples }: Counted, { data }: JobEvent): Counted {
  const add = (sum: number | null, more: unknown) => (sum === null || typeof more !== 'number' ? null : sum + more);
  return {
    tokens: add(tokens, data['num_tokens']),
    samples: add(samples, data['num_sequences_in_row'] ?? data['num_pairs']),
  };
}

/** The newest is kept. */
function everySecondStep(events: readonly KeptEvent[]): KeptEvent[] {
  let stepsBehind = events.filter(isStep).length;
  return events.filter((event) => !isStep(event) || --stepsBehind % 2 === 0);
}

const isStep = ({ type }: JobEvent): boolean => type === 'gradient_step';
