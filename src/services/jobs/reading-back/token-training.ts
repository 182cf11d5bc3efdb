// What training did with a job's trajectories, from its token record (token-record.ts): why some were not trained, and for each token the
// log-probabilities of sampler and trainer. Ratios are those of the loss before they are capped or clipped (training/losses.ts).
import type { RecordedRun, RecordedSequence, RecordHead } from '../data/token-record.ts';
import { readRecord } from '../data/token-record.ts';

export interface TrainedSequence {
  readonly step: number;
  readonly advantage: number;
  readonly weight: number;
  readonly tokens: Int32Array;
  readonly trained: Uint8Array;
  /** For each token, if turns had rewards of their own; null: all trained tokens have that of the sequence. */
  readonly advantages: readonly (number | null)[] | null;
  /** For each token, like the next fields; null: unknown, or the token was not trained. */
  readonly policySteps: readonly (number | null)[];
  readonly samplerLogprobs: readonly (number | null)[];
  /** Null: `trainerUnknown` says why. */
  readonly trainerLogprobs: readonly (number | null)[] | null;
  readonly ratios: readonly (number | null)[] | null;
  readonly trainerUnknown: 'not_reached' | 'not_told' | null;
  /** Null: the job did not ask for this policy. */
  readonly startLogprobs: readonly (number | null)[] | null;
  readonly referenceLogprobs: readonly (number | null)[] | null;
}

export interface TrajectoryTraining {
  /** `truncated`, or why nothing of it was trained; null: all of it was. */
  readonly reason: string | null;
  readonly sequences: readonly TrainedSequence[];
}

/** Why trajectories were not or only partly trained: by group, then by index. */
export type TrajectoryReasons = ReadonlyMap<number, ReadonlyMap<number, string>>;

export async function readReasons(content: AsyncIterable<Uint8Array>, name: string): Promise<TrajectoryReasons> {
  const record = await readRecord(content, name);
  await record.close();
  const groups = new Map<number, Map<number, string>>();
  for (const { group, trajectory, reason } of record.head.outcomes) {
    const reasons = groups.get(group) ?? new Map<number, string>();
    groups.set(group, reasons.set(trajectory, reason));
  }
  return groups;
}

/** A page has up to this many tokens, plus those of one more trajectory. */
const TOKENS_MAX = 50_000;

/** These trajectories of a group, in order; fewer if they have many tokens, but at least one. */
export async function readTraining(
  content: AsyncIterable<Uint8Array>,
  name: string,
  group: number,
  trajectories: readonly number[],
): Promise<TrajectoryTraining[]> {
  const record = await readRecord(content, name);
  const reasons = new Map(
    record.head.outcomes.filter((each) => each.group === group).map(({ trajectory, reason }) => [trajectory, reason]),
  );
  const selected = new Set(trajectories);
  const sequences = new Map<number, TrainedSequence[]>();
  let [tokens, last] = [0, -1];
  const isFull = (trajectory: number) => tokens > TOKENS_MAX && trajectory !== last;
  for await (const sequence of record.sequences((place) => place.group >= group)) {
    const { trajectory } = sequence;
    if (sequence.group > group || isFull(trajectory)) break;
    if (!selected.has(trajectory)) continue;
    last = trajectory;
    tokens += sequence.tokens.length;
    sequences.set(trajectory, [...(sequences.get(trajectory) ?? []), toTrained(sequence, record.head)]);
  }
  await record.close();
  const read = tokens > TOKENS_MAX ? trajectories.filter((index) => index <= last) : trajectories;
  return read.map((index) => ({ reason: reasons.get(index) ?? null, sequences: sequences.get(index) ?? [] }));
}

function toTrained(sequence: RecordedSequence, { config, stepsDone }: RecordHead): TrainedSequence {
  const { step, advantage, weight, runs, tokens, trained, values } = sequence;
  const { sampler, trainer, start, reference } = values;
  const isKnown = trainer?.every((logprob) => !Number.isNaN(logprob)) ?? false;
  const spread = (ofTrained: Float32Array | readonly number[]) => spreadOver(trained, ofTrained);
  return {
    step,
    advantage,
    weight,
    tokens,
    trained,
    advantages: runs.some((run) => run.advantage !== undefined)
      ? spread(ofRuns(runs, (run) => run.advantage ?? advantage))
      : null,
    policySteps: spread(ofRuns(runs, ({ policyStep }) => policyStep ?? NaN)),
    samplerLogprobs: spread(sampler!),
    trainerLogprobs: isKnown ? spread(trainer!) : null,
    ratios: isKnown ? spread(ratiosOf(trainer!, start ?? sampler!, String(config['importance_sampling_level']))) : null,
    trainerUnknown: isKnown ? null : step > stepsDone ? 'not_reached' : 'not_told',
    startLogprobs: start ? spread(start) : null,
    referenceLogprobs: reference ? spread(reference) : null,
  };
}

const ofRuns = (runs: readonly RecordedRun[], valueOf: (run: RecordedRun) => number): number[] =>
  runs.flatMap((run) => new Array<number>(run.length).fill(valueOf(run)));

/** A token whose old log-probability is unknown counts as on-policy. */
function ratiosOf(trainer: Float32Array, old: Float32Array, level: string): number[] {
  const differences = Array.from(trainer, (logprob, i) => (Number.isNaN(old[i]!) ? 0 : logprob - old[i]!));
  const sequence = Math.exp(differences.reduce((sum, x) => sum + x, 0) / differences.length);
  return differences.map((difference) => {
    const token = Math.exp(difference);
    if (level === 'sequence') return sequence;
    if (level === 'average') return (token + sequence) / 2;
    return level === 'geometric_average' ? Math.sqrt(token * sequence) : token;
  });
}

function spreadOver(trained: Uint8Array, values: Float32Array | readonly number[]): (number | null)[] {
  let next = 0;
  return Array.from(trained, (one) => {
    if (one === 0) return null;
    const value = values[next++];
    return Number.isFinite(value) ? value! : null;
  });
}
