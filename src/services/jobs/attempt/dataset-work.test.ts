// What a job over rows says if nothing is trained, or nothing is held out.
import { expect, test } from 'vitest';
import { resolveSftConfig } from '#training/sft-config';
import { emptyPlanWarnings } from './dataset-work.ts';

type Plan = Parameters<typeof emptyPlanWarnings>[0];

const planned = (change: Partial<Plan>, config: Parameters<typeof resolveSftConfig>[0] = {}, held = 0) =>
  emptyPlanWarnings({
    steps: 2,
    skipped: {},
    validation: { rows: async function* () {}, rowCount: held, trainedTokens: 0 },
    counts: { num_rows: 5, num_validation_rows: held, num_tokens: 9, num_trainable_tokens: 4 },
    config: resolveSftConfig(config, null),
    ...change,
  });

test('a job that trains something and holds nothing out has nothing to say', () => {
  expect(planned({})).toEqual([]);
});

test('a job that trains nothing says so, with the reasons and what to do', () => {
  const [warning, ...others] = planned({ steps: 0, skipped: { too_long: 3, no_trainable_tokens: 2 } });
  expect(warning).toMatch(/^Nothing was trained: .* \(3 too_long, 2 no_trainable_tokens\), .*shorter rows.*weight 0/);
  expect(others).toEqual([]);
});

test.each([
  [
    { validationSplit: 0.1 },
    0,
    'config.validation_split was not used',
    'no rows are held out: 0.1 of 5 rows is less than one',
  ],
  [
    { validationSplit: 0.1, evalSteps: 1 },
    0,
    'config.eval_steps was not used',
    'no rows are held out: 0.1 of 5 rows is less than one',
  ],
  [
    { validationSplit: 0.4 },
    2,
    'config.validation_split was not used',
    'no token of the 2 rows that are held out can be learnt',
  ],
])('held-out rows that are none are named: %j', (config, held, what, why) => {
  expect(planned({}, config, held)).toEqual([`${what}, because ${why}. Hold more out with validation_split.`]);
});
