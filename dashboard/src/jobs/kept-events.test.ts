import { expect, test } from 'vitest';
import type { JobEvent } from '../api/events.ts';
import { pointsOf } from './gradient-steps.ts';
import { keepEvents, NO_EVENTS } from './kept-events.ts';

const event = (id: number, type: JobEvent['type'] = 'gradient_step'): JobEvent => ({
  ...{ id: String(id), type },
  data: type === 'gradient_step' ? { gradient_step: id, num_tokens: 10 } : {},
});

test('all events are kept while they are few', () => {
  const events = [event(0, 'training_started'), event(1), event(2)];
  const kept = keepEvents(keepEvents(NO_EVENTS, events.slice(0, 1)), events.slice(1));
  expect(kept).toMatchObject({ events, total: 3 });
});

test('of many gradient steps every second one is dropped repeatedly; the first events and the newest step are kept', () => {
  let kept = NO_EVENTS;
  for (let at = 0; at < 1_000; at += 10) {
    const news = Array.from({ length: 10 }, (_, i) => event(at + i, at + i === 0 ? 'training_started' : undefined));
    kept = keepEvents(kept, news, 64);
    expect(kept.events.length).toBeLessThanOrEqual(64);
    expect(kept.events[0]!.type).toBe('training_started');
    expect(kept.events.at(-1)!.id).toBe(String(at + 9));
  }
  expect(kept.total).toBe(1_000);
  expect(kept.events.length).toBeGreaterThan(30);
  // Tokens of dropped steps count too; no step said its samples.
  for (const { step, tokens, samples } of pointsOf(kept.events)) expect([tokens, samples]).toEqual([10 * step!, null]);
});
