// Writes to stdout, as JSON, the calls of the golden tests to an engine: the tests of python/whetstone-worker repeat them on its
// engine and compare with the same fixtures. Planned here, because a worker gets its rows from this side too.
import { createRandom } from '#base/random';
import type { LossExpression, LossProgram } from '#engine/loss-program';
import { policyLoss } from '#training/losses';
import { evaluateLoss } from '#training/loss-reference';
import { withComparisonPolicies } from '#training/comparison-policies';
import { trainSft } from '#training/sft-job';
import { FAMILIES, openModelFixture, type LossName } from '../golden/fixture.ts';
import { goldenLoss } from '../golden/loss-programs.ts';
import { planRlCase, rlJob, startLogprobs } from '../golden/rl-rows.ts';
import { planSftCase, sftJob } from '../golden/sft-rows.ts';
import { LAYOUTS, trainingRow } from '../golden/training-rows.ts';
import { LOSS_CONFIGS } from '../training/loss-config.ts';
import { recordCalls, rowData } from './tape.ts';

const LOSSES: readonly LossName[] = ['cross_entropy', 'cispo', 'ppo', 'cispo_gaps', 'ppo_gaps'];

/** One row each; the log-probabilities of the KL reference are left to the engine. */
const rlRows = () =>
  Promise.all(
    rlJob.cases.map(async ({ config }) => {
      const plan = await planRlCase(config);
      const packed = plan.rows[0]!;
      const start = plan.config.loss.precalculates ? [startLogprobs(packed)] : null;
      const row = withComparisonPolicies(packed.row, 0, { start, reference: null });
      return { row: rowData(row), loss: policyLoss(plan.config.loss) };
    }),
  );

const sftTapes = () =>
  Promise.all(
    sftJob.cases.map(async ({ assistantTurns }) => {
      const { session, calls } = recordCalls();
      for await (const step of trainSft(session, await planSftCase(assistantTurns), 0)) void step;
      // After the last update the job checks once whether its policy is still finite.
      return calls.slice(0, calls.findLastIndex(({ verb }) => verb === 'optimStep') + 1);
    }),
  );

const loraRows = () =>
  Promise.all(
    FAMILIES.map(async (family) => {
      const fixture = await openModelFixture(family);
      const rows = LAYOUTS.flatMap((layout) =>
        LOSSES.map((name) => ({
          layout,
          name,
          row: rowData(trainingRow(fixture, layout, name)),
          loss: goldenLoss(name, fixture.expected.clip),
        })),
      );
      return [family, rows] as const;
    }),
  );

/** Every operation, at ties and in branches that are not taken; then the losses of jobs. Values of the plain evaluator. */
function lossValues() {
  const random = createRandom(5);
  const draw = (low: number, high: number) => Array.from({ length: 12 }, () => low + random.next() * (high - low));
  const names = ['oldLogprobs', 'sampledLogprobs', 'referenceLogprobs', 'advantages', 'weights'];
  const logprobs = draw(-3, -0.1);
  const tokens = {
    logprobs,
    entropies: draw(0, 2),
    sequenceIds: logprobs.map((_, i) => [7, 2, 40][i % 3]!),
    inputs: {
      ...Object.fromEntries(
        names.map((name) => [name, draw(-2, -0.1).map((x, i) => (name.endsWith('Logprobs') && i % 5 === 0 ? NaN : x))]),
      ),
      same: logprobs,
    } as Record<string, number[]>,
  };
  const programs = [...operations(), ...LOSS_CONFIGS.map(({ name, config }) => ({ ...policyLoss(config), name }))];
  return { tokens, values: programs.map((program) => ({ program, expected: evaluateLoss(program, tokens) })) };
}

function operations(): LossProgram[] {
  const logprob: LossExpression = { op: 'logprob' };
  const same: LossExpression = { op: 'input', name: 'same' };
  const large: LossExpression = { op: 'constant', value: 1000 };
  const positive: LossExpression = { op: 'neg', x: logprob };
  const infinite: LossExpression = { op: 'exp', x: { op: 'mul', x: logprob, y: { op: 'constant', value: -1e4 } } };
  const unary = (['neg', 'exp', 'stopGradient', 'isNaN', 'sequenceMean', 'mean', 'largest', 'smallest'] as const).map(
    (op): LossExpression => ({ op, x: logprob }),
  );
  const binary = (['add', 'sub', 'mul', 'div', 'min', 'max', 'less'] as const).flatMap((op): LossExpression[] => [
    { op, x: logprob, y: { op: 'entropy' } },
    { op, x: { op: 'exp', x: logprob }, y: logprob },
    { op, x: logprob, y: same }, // a tie
    { op, x: same, y: logprob },
  ]);
  const untaken: LossExpression = {
    op: 'where',
    condition: { op: 'less', x: logprob, y: large },
    x: logprob,
    y: infinite,
  };
  const all: LossExpression[] = [logprob, large, { op: 'sqrt', x: positive }, ...unary, ...binary, untaken];
  return all.flatMap((perToken): LossProgram[] => [
    { name: JSON.stringify(perToken), perToken, metrics: { itself: perToken } },
    { name: `${JSON.stringify(perToken)}, summed`, perToken, denominator: 'one', metrics: {} },
  ]);
}

const [rl, sft, lora] = await Promise.all([rlRows(), sftTapes(), loraRows()]);
process.stdout.write(JSON.stringify({ rl, sft, lora: Object.fromEntries(lora), losses: lossValues() }));
