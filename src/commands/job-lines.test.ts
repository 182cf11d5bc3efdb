import { expect, test } from 'vitest';
import type { TrainingEvent } from '#client/client';
import { linesOfEvent } from './job-lines.ts';

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
