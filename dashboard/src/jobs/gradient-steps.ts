// Gradient steps of a job as points of charts.
import type { Point } from '../charts/curves.ts';
import type { KeptEvent } from './kept-events.ts';

export function pointsOf(events: readonly KeptEvent[]): Point[] {
  const steps = events.filter(({ type }) => type === 'gradient_step');
  return steps.map(({ data: { gradient_step: step, ...data }, counted }, at) => ({
    step: typeof step === 'number' ? step : at + 1,
    ...counted,
    values: Object.fromEntries(Object.entries(data).filter(isNumber)),
  }));
}

const isNumber = (entry: [string, unknown]): entry is [string, number] =>
  typeof entry[1] === 'number' && Number.isFinite(entry[1]);
