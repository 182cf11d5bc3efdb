import { expect, test } from 'vitest';
import { linesOfReport, reportOn, spread, type Probe, type ProbedAnswer } from './probe-report.ts';

const answer = (reward: number, change: Partial<ProbedAnswer> = {}): ProbedAnswer => ({
  text: `worth ${reward}, answer ${change.tokens ?? 0}`,
  reward,
  tokens: 4,
  isCut: false,
  ...change,
});

/** `rewards`: [task][answer] */
const probed = (rewards: readonly (readonly (number | ProbedAnswer)[])[], change: Partial<Probe> = {}): Probe => ({
  model: 'some/model',
  samples: rewards[0]!.length,
  maxTokens: 16,
  success: 1,
  tasks: rewards.map((group, i) => ({
    line: i + 1,
    prompt: `Question ${i}?`,
    answers: group.map((each) => (typeof each === 'number' ? answer(each) : each)),
  })),
  tasksInFile: rewards.length,
  problem: null,
  ...change,
});
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

test('figures are those of the answers, by answer and by group', () => {
  const report = reportOn(
    probed([
      [1, 0, 0, answer(0, { tokens: 16, isCut: true })],
      [0, 0, 0, 0],
      [1, 1, 1, 1],
      [0.5, 0.5, 0.5, 0.5],
    ]),
  );
  expect(report).toMatchObject({
    tasks: 4,
    answers: 16,
    success_rate: 5 / 16,
    reward: { mean: 7 / 16, min: 0, max: 1 },
    groups: { differ: 1, solved: 1, failed: 2, same_text: 3, unanswered: 0 },
    tokens: { mean: (15 * 4 + 16) / 16, max: 16, limit: 16 },
    cut_off: 1 / 16,
  });
});

test.each([
  ['yes', [...times(2, [1, 0]), ...times(6, [0, 0])]],
  ['slowly', [...times(1, [1, 0]), ...times(7, [0, 0])]],
  ['no', times(8, [0, 0])],
  ['no', times(8, [1, 1])],
  ['yes', times(8, [0.2, 0.1])], // no success, and yet one answer is better than another
] as const)('RL can learn: %s, by the share of groups that differ', (verdict, rewards) => {
  expect(reportOn(probed(rewards)).can_learn).toBe(verdict);
});

test('where no answer succeeds, examples come first, and the advice says how rare a success may be', () => {
  const [first, second] = reportOn(probed(times(25, times(8, 0)))).advice;
  expect(first).toBe(
    'No answer of 200 succeeds (so fewer than about 2 % do): train on examples first, `whetstone train rows.jsonl`, then probe again.',
  );
  expect(second).toMatch(/^Make the task easier/);
});

test('where some do, more samples come first, with a number', () => {
  const { advice } = reportOn(probed([[1, ...times(7, 0)], ...times(9, times(8, 0))]));
  expect(advice[0]).toMatch(/^Sample more: --samples 32 /);
  expect(advice.join(' ')).toContain('Train on examples first');
});

test('a trained model is named as in other commands', () => {
  const probe = probed([[1, 0]], { model: 'wandb-artifact:///team/demo/sums:step4' });
  expect(linesOfReport(reportOn(probe), probe, 0).join('\n')).toMatch(/answers of demo\/sums:step4$/m);
});

test('a model that says the same each time is told from one that fails in many ways', () => {
  const same = times(8, times(4, answer(0, { text: 'I do not know.' })));
  const various = times(
    8,
    [1, 2, 3, 4].map((tokens) => answer(0, { tokens })),
  );
  expect(reportOn(probed(same)).advice.join(' ')).toContain('same words in every answer');
  expect(reportOn(probed(various)).advice.join(' ')).not.toContain('same words');
});

test('solved tasks ask for harder ones, whether all are solved or nearly all answers succeed', () => {
  expect(reportOn(probed(times(8, [1, 1]))).advice).toEqual([expect.stringMatching(/take harder ones/)]);
  const solved = probed(times(8, [1, 1]));
  expect(linesOfReport(reportOn(solved), solved, 0)).toContain(
    'No: RL cannot learn from these tasks, because nearly every answer succeeds already.',
  );
  const nearly = times(8, [...times(15, 1), 0]);
  expect(reportOn(probed(nearly))).toMatchObject({ can_learn: 'yes', advice: [expect.stringMatching(/Harder tasks/)] });
});

test('cut off answers and too few tasks are named in every case', () => {
  const cut = times(8, [answer(1, { isCut: true }), 0]);
  expect(reportOn(probed(cut)).advice).toEqual([expect.stringMatching(/^50 % of the answers .* after 16 tokens/)]);
  expect(reportOn(probed(times(7, [1, 0]))).advice).toEqual([expect.stringMatching(/^7 tasks with 2 answers each/)]);
});

test('tasks that could not be answered do not count as failures, and the first reason is printed', () => {
  const probe = probed([[1, 0], [], ...times(7, [1, 0])], { problem: 'line 2: the prompt is too long' });
  const report = reportOn(probe);
  expect(report).toMatchObject({ success_rate: 0.5, groups: { differ: 8, failed: 0, unanswered: 1 } });
  const lines = linesOfReport(report, probe, 0);
  expect(lines).toContain('groups   8 of 9 differ, 1 could not be answered');
  expect(lines).toContain('not answered: line 2: the prompt is too long');
});

test('the text ends with the best and the worst answer of a few tasks', () => {
  const probe = probed(
    times(10, [1, 0, 0.5]).map((group, i) => (i === 0 ? [0, 0, 0] : group)),
    { tasksInFile: 40 },
  );
  const lines = linesOfReport(reportOn(probe), probe, 2);
  expect(lines).toEqual([
    'probed   10 tasks (of 40 in the file) × 3 answers of some/model',
    'success  30 % of the answers get a reward of 1 or more',
    'reward   mean 0.45, from 0 to 1',
    'groups   9 of 10 differ, 1 fail throughout',
    'tokens   mean 4 per answer, at most 4; 0 % cut off after 16',
    'Yes: RL can learn from these tasks.',
    'line 1  Question 0?',
    '  reward 0  worth 0, answer 0',
    'line 6  Question 5?',
    '  reward 1  worth 1, answer 0',
    '  reward 0  worth 0, answer 0',
  ]);
});

test('a rate that is nearly nothing or nearly everything is not rounded away', () => {
  const rare = probed([[1, ...times(399, 0)], ...times(7, times(400, 0))]);
  expect(linesOfReport(reportOn(rare), rare, 0)[1]).toContain('0.03 %');
  const usual = probed([[0, ...times(399, 1)], ...times(7, times(400, 1))]);
  expect(linesOfReport(reportOn(usual), usual, 0)[1]).toContain('99.97 %');
});

test('tasks are taken evenly from the file', () => {
  expect(spread([0, 1, 2, 3, 4, 5, 6, 7], 4)).toEqual([0, 2, 4, 6]);
  expect(spread([0, 1, 2], 8)).toEqual([0, 1, 2]);
  expect(spread([0, 1, 2], 0)).toEqual([]);
});
