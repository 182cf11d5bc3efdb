import { expect, test } from 'vitest';
import type { TrainingEvent } from '#client/client';
import { lineOfJob, linesOfEvent } from './job-lines.ts';

const event = {
  id: '2',
  type: 'gradient_step',
  data: { gradient_step: 1, loss: 0.204512345, learning_rate: 6e-4, num_tokens: 321 },
} as unknown as TrainingEvent;

test('an event is one line where it is piped or the terminal is wide enough', () => {
  const line = 'gradient_step  gradient_step=1  loss=0.20451  learning_rate=0.0006  num_tokens=321';
  expect(linesOfEvent(event)).toEqual([line]);
  expect(linesOfEvent(event, line.length)).toEqual([line]);
});

test('at a narrow terminal it is broken between its fields', () => {
  expect(linesOfEvent(event, 40)).toEqual([
    'gradient_step  gradient_step=1',
    '  loss=0.20451  learning_rate=0.0006',
    '  num_tokens=321',
  ]);
  expect(linesOfEvent(event, 5)).toHaveLength(5);
});

test('a wait is shown as its sentence, in the events and in the list', () => {
  const waiting_for = { type: 'job', id: 'j1', message: 'It waits for its turn behind the training job j1.' } as const;
  const event = { id: 'e', type: 'training_waiting', data: { waiting_for } } as const;
  expect(linesOfEvent(event)).toEqual([`training_waiting  ${waiting_for.message}`]);
  const job = { id: 'j2', type: 'rl', model_id: 'm', status: 'queued', created_at: 'now', progress: 0, step: null, skipped: {} } as const; // prettier-ignore
  const rest = { training_start: null, training_end: null, error_message: null };
  expect(lineOfJob({ ...job, ...rest, waiting_for })).toBe(`j2  rl  queued       0 %  now  ${waiting_for.message}`);
});
