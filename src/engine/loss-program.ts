// A per-token loss as data: a small expression tree over named per-token inputs. Written once (training/losses.ts),
// lowered into a graph by each engine, evaluated by the plain reference (training/loss-reference.ts). It travels
// between processes, so it holds no functions. Shapes: every value is `[tokens]` or a scalar that broadcasts.

export type LossExpression =
  | { op: 'logprob' } // current log-probability of the target token, nats; gradients flow through this one only
  | { op: 'entropy' } // entropy of the current distribution at the token, nats; no gradient
  | { op: 'input'; name: string } // float32 from TrainingRow.inputs
  | { op: 'constant'; value: number }
  | { op: 'neg' | 'exp' | 'sqrt' | 'stopGradient' | 'isNaN'; x: LossExpression }
  | { op: 'add' | 'sub' | 'mul' | 'div' | 'min' | 'max' | 'less'; x: LossExpression; y: LossExpression }
  /** condition is 0 or 1 */
  | { op: 'where'; condition: LossExpression; x: LossExpression; y: LossExpression }
  /** mean of x over the tokens that share TrainingRow.sequenceIds, repeated for each of them */
  | { op: 'sequenceMean'; x: LossExpression }
  /** over all trained tokens of the row, repeated for each; only the mean carries a gradient */
  | { op: 'mean' | 'largest' | 'smallest'; x: LossExpression };

export interface LossProgram {
  /** Identifies the shape of the program, so that engines can cache compiled programs. */
  readonly name: string;
  readonly perToken: LossExpression;
  /** The loss is Σ perToken over the trained tokens ÷ this. Default: the number of trained tokens. */
  readonly denominator?: 'tokens' | 'one';
  /** Reported in addition to the loss: the mean of each over trained tokens. */
  readonly metrics: Readonly<Record<string, LossExpression>>;
}
