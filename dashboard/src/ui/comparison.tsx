// Compares rewards of the same prompts at two steps: how many improved, and whether the difference exceeds the scatter between
// prompts.
import { measured } from './numbers.ts';

export interface Compared {
  readonly mean: number | null;
  /** At the compared step; null: that step lacks this prompt, or a reward of it. */
  readonly before: number | null;
}

export interface Comparison {
  readonly prompts: number;
  readonly better: number;
  readonly worse: number;
  /** Mean rewards over the prompts that both steps have. */
  readonly mean: number;
  readonly before: number;
  /** Standard error of the mean difference: standard deviation of the prompts' differences over the root of their number. Null: one prompt. */
  readonly error: number | null;
}

/** Null: the steps have no prompt in common. */
export function compare(rows: readonly Compared[]): Comparison | null {
  const both = rows.filter((row): row is { mean: number; before: number } => row.mean !== null && row.before !== null);
  if (both.length === 0) return null;
  const differences = both.map(({ mean, before }) => mean - before);
  const average = meanOf(differences);
  const squares = differences.reduce((sum, each) => sum + (each - average) ** 2, 0);
  return {
    prompts: both.length,
    better: differences.filter((each) => each > 0).length,
    worse: differences.filter((each) => each < 0).length,
    mean: meanOf(both.map(({ mean }) => mean)),
    before: meanOf(both.map(({ before }) => before)),
    error: both.length < 2 ? null : Math.sqrt(squares / (both.length - 1) / both.length),
  };
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value / values.length, 0);

/** A difference of two standard errors is rarely chance. */
const ERRORS_THAT_COUNT = 2;

interface VerdictProps extends Comparison {
  readonly step: number;
  readonly versus: number;
}

export function Verdict({ prompts, better, worse, mean, before, error, step, versus }: VerdictProps) {
  const change = mean - before;
  const isClear = error !== null && Math.abs(change) > ERRORS_THAT_COUNT * error && change !== 0;
  return (
    <p class="verdict" role="status">
      {isClear ? (
        <b>
          Step {step} is {change > 0 ? 'better' : 'worse'} than step {versus}.
        </b>
      ) : (
        <b>
          Steps {versus} and {step} do not differ measurably.
        </b>
      )}{' '}
      Mean reward <b>{measured(before)}</b> at step {versus}, <b>{measured(mean)}</b> at step {step}:{' '}
      <Change by={change} />
      {error !== null && <span class="muted"> ± {measured(error)} (standard error)</span>}. {better} of {prompts}{' '}
      prompts better, {worse} worse.
    </p>
  );
}

/** Means of the same rewards may differ in their last bit. */
const ROUNDING = 1e-9;

export function Change({ by }: { by: number }) {
  const change = Math.abs(by) < ROUNDING ? 0 : by;
  return (
    <span class={`advantage ${change > 0 ? 'up' : change < 0 ? 'down' : ''}`}>
      {change > 0 ? '+' : ''}
      {measured(change)}
    </span>
  );
}

/** For rewards between 0 and 1, which most are, also draws a bar. */
export const Meter = ({ value }: { value: number | null }) => (
  <span class="meter">
    {value !== null && value >= 0 && value <= 1 && <span class="meter-bar" style={{ width: `${48 * value}px` }} />}
    {measured(value)}
  </span>
);
