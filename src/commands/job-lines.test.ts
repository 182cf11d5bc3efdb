import { expect, test } from 'vitest';
import type { AnsweredPrompt, JobConfig, TrainingJob } from '#client/client';
import { linesOfAnswers, linesOfJob, linesOfJobs } from './job-lines.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const at = (time: string) => `2026-03-01T${time}Z`;
const job: TrainingJob = {
  id: 'j1',
  type: 'rl',
  model_id: 'm',
  model_name: 'demo/sums',
  status: 'queued',
  created_at: at('11:55:00'),
  training_start: null,
  training_end: null,
  error_message: null,
  progress: 0,
  step: null,
  skipped: {},
};
const cellsOf = (line: string | undefined) => line!.split(/ {2,}/);

test('a list of jobs has a header, names checkpoints as chat requests do, and says why a job waits', () => {
  const waiting_for = { type: 'job', id: 'j0', message: 'It waits for its turn.' } as const;
  const ended = { status: 'succeeded', progress: 1, step: 3, reward: 0.98765, seconds: 61.2 } as const;
  const running = { status: 'running', progress: 0.5, training_start: at('11:59:00') } as const;
  const lines = linesOfJobs(
    [
      { ...job, waiting_for },
      { ...job, ...ended },
      { ...job, ...running },
    ],
    NOW,
  );
  expect(lines.map(cellsOf)).toEqual([
    ['ID', 'KIND', 'STATUS', 'DONE', 'MODEL', 'REWARD', 'LOSS', 'TOOK', 'SUBMITTED', 'WAITING'],
    ['j1', 'rl', 'queued', '0 %', 'demo/sums', '-', '-', '-', '5 min ago', 'It waits for its turn.'],
    ['j1', 'rl', 'succeeded', '100 %', 'demo/sums:step3', '0.988', '-', '61 s', '5 min ago'],
    ['j1', 'rl', 'running', '50 %', 'demo/sums', '-', '-', '60 s', '5 min ago'],
  ]);
});

const settings: JobConfig = {
  config: { epochs: 2, optimizer: { beta1: 0.9 } },
  input: {
    kind: 'artifact',
    path: '/v1/artifacts/default/demo/rows:v0',
    uri: 'wandb-artifact:///default/demo/rows:v0',
  },
  as_trained: true,
};

test('a job names the checkpoint that it made, its data and its settings as commands do', () => {
  const ended = {
    ...job,
    type: 'sft',
    status: 'succeeded',
    progress: 1,
    step: 3,
    loss: 0.51234,
    seconds: 61.2,
  } as const;
  const skipped = { equal_rewards: 4 };
  expect(linesOfJob({ ...ended, skipped }, settings, NOW)).toEqual([
    'sft job j1: succeeded, 100 %',
    'checkpoint: demo/sums:step3',
    'submitted: 5 min ago, took 61 s',
    'loss: 0.512',
    '4 skipped (equal rewards)',
    'data: demo/rows:v0',
    'trained with:',
    '  epochs           2',
    '  optimizer.beta1  0.9',
  ]);
});

test('a cancelled job has no checkpoint, whatever step it would have made', () => {
  const cancelled = { ...job, status: 'cancelled', progress: 0.5, step: 1, error_message: 'cancelled' } as const;
  const [head, model] = linesOfJob(cancelled, settings, NOW);
  expect([head, model]).toEqual(['rl job j1: cancelled, 50 %', 'model: demo/sums']);
});

test('an answer that is longer than its line ends with a mark', () => {
  const answer = (content: string) => ({ message: { role: 'assistant', content }, reward: 1, finish_reason: 'stop' });
  const answers = [answer('short'), answer('long'.repeat(50))];
  const prompt = { index: 0, messages: [{ role: 'user', content: 'Go' }], answers, error: null };
  expect(linesOfAnswers([prompt as unknown as AnsweredPrompt])).toEqual([
    'prompt 0  Go',
    '  reward 1  stop  short',
    `  reward 1  stop  ${'long'.repeat(25)} …`,
  ]);
});
