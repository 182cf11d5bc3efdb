import { expect, test } from 'vitest';
import type { TrainingEvent } from '#client/client';
import { allOfEvent, createEventLines } from './event-lines.ts';

const event = (type: TrainingEvent['type'], data: object) => ({ id: 'e', type, data }) as TrainingEvent;
const step = event('gradient_step', { gradient_step: 1, loss: 0.204512345, learning_rate: 6e-4, num_tokens: 321 });

test('the events of a job are one readable line each, and a step says of how many it is one', () => {
  const events = [
    event('training_started', { num_gradient_steps: 8, num_rows: 15, skipped: { row_too_long: 1 }, warnings: ['odd'] }),
    event('gradient_step', { gradient_step: 3, loss: 0.0151234, learning_rate: 3.84e-4, grad_norm: 2 }),
    event('gradient_step', { gradient_step: 4, loss: -0.000012, reward: 0.5, entropy: 1.23456 }),
    event('training_ended', { num_gradient_steps: 1, 'train/reward': 0.98 }),
    event('training_failed', { error_message: 'cancelled\u001b[31m' }),
    event('training_failed', { error_message: '2 lines are bad.\nline 1: a\nline 2: b' }),
  ];
  expect(events.flatMap(createEventLines())).toEqual([
    'training: 8 gradient steps, 15 rows, 1 skipped (row too long)',
    'warning: odd',
    'step 3/8  loss 0.0151  lr 3.84e-4',
    'step 4/8  loss -1.2e-5  reward 0.5  entropy 1.23',
    'trained 1 gradient step  reward 0.98',
    'failed: cancelled [31m',
    'failed: 2 lines are bad.',
    '  line 1: a',
    '  line 2: b',
  ]);
});

test('the older name of the number of gradient steps is read too', () => {
  const events = [event('training_started', { num_sequences: 2 }), step];
  expect(events.flatMap(createEventLines()).at(-1)).toBe('step 1/2  loss 0.205  lr 6e-4');
});

test('with all fields, an event is one line where it is piped or the terminal is wide enough', () => {
  const line = 'gradient_step  gradient_step=1  loss=0.20451  learning_rate=0.0006  num_tokens=321';
  expect(allOfEvent(step)).toEqual([line]);
  expect(allOfEvent(step, line.length)).toEqual([line]);
});

test('at a narrow terminal it is broken between its fields', () => {
  expect(allOfEvent(step, 40)).toEqual([
    'gradient_step  gradient_step=1',
    '  loss=0.20451  learning_rate=0.0006',
    '  num_tokens=321',
  ]);
  expect(allOfEvent(step, 5)).toHaveLength(5);
});

test('a wait is shown as its sentence', () => {
  const waiting_for = { type: 'job', id: 'j1', message: 'It waits for its turn behind the training job j1.' } as const;
  const waits = event('training_waiting', { waiting_for });
  expect(createEventLines()(waits)).toEqual([`waiting: ${waiting_for.message}`]);
  expect(allOfEvent(waits)).toEqual([`training_waiting  ${waiting_for.message}`]);
});
