// The RL job of fixtures/rl (python/golden/make_rl.py), planned into rows as a job plans them, and the positions of a row's
// tokens in the fixture. For tests that compare an engine with that fixture.
import { rlConfig } from '#api/training/rl-config';
import type { History, TrajectoryGroup } from '#domain/trajectory';
import type { PackedRow } from '#training/packing';
import { planRlJob, type RlPlan } from '#training/rl-plan';
import { characterEncoder } from '../training/character-encoder.ts';
import { readFixture } from './fixture.ts';
import { NO_LIMITS } from './no-limits.ts';

interface GoldenHistory {
  readonly prompt: readonly number[];
  /** Sampled, context, sampled, … */
  readonly turns: readonly (readonly number[])[];
  /** For all sampled tokens. */
  readonly sampled: readonly (number | null)[];
  readonly start: readonly number[];
  /** The values of the policy with the fixture's adapter. */
  readonly trainer: readonly number[];
}

interface GoldenJob {
  readonly tolerance: number;
  readonly groups: readonly (readonly { readonly reward: number; readonly histories: readonly GoldenHistory[] }[])[];
  readonly cases: readonly {
    readonly config: Readonly<Record<string, unknown>>;
    readonly signals: readonly (readonly [advantage: number, weight: number] | null)[];
    readonly loss: number;
    readonly metrics: Readonly<Record<string, number>>;
    /** By LoRA parameter: its norm, then projections on waves. */
    readonly gradients: Readonly<Record<string, readonly number[]>>;
  }[];
}

export const rlJob = readFixture<GoldenJob>('rl/expected.json');
export const rlGroups: readonly TrajectoryGroup[] = rlJob.groups.map((trajectories) => ({
  trajectories: trajectories.map(({ reward, histories }) => ({
    histories: histories.map(toHistory),
    reward,
    metrics: {},
  })),
  exceptionCount: 0,
  metrics: {},
}));

function toHistory({ prompt, turns, sampled }: GoldenHistory): History {
  let tokens = [...prompt];
  let at = 0;
  return {
    tools: null,
    turns: turns.flatMap((turn, i) => {
      const promptTokenIds = tokens;
      tokens = [...tokens, ...turn];
      if (i % 2 === 1) return [];
      const logprobs = sampled.slice(at, (at += turn.length));
      const message = { role: 'assistant', content: '' };
      return [{ kind: 'sampled' as const, message, finishReason: 'stop', tokens: turn, logprobs, promptTokenIds }];
    }),
  };
}

/** Only the size of the tokenizer is used: the tokens are given. */
export const idsOnly = characterEncoder(none, none, 224);
function none(): never {
  throw new Error('the tokens of this job are all given');
}

/** In one row: tokens of sequences are identified by what they predict. */
export const planRlCase = (config: Readonly<Record<string, unknown>>): Promise<RlPlan> =>
  planRlJob(
    rlGroups,
    { ...rlConfig.parse(config).config, packedSequenceLength: 250 },
    { encoder: idsOnly, budget: NO_LIMITS, seed: () => 'golden' },
  );

/** For each trained token of a row, its position in the fixture. */
export function placesOf({ row }: PackedRow): { trajectory: number; history: GoldenHistory; index: number }[] {
  const all = rlJob.groups.flat().flatMap((t, trajectory) => t.histories.map((history) => ({ trajectory, history })));
  const seen = new Map<number, number>();
  return [...row.sequenceIds].map((id) => {
    const targets = [...row.targets].filter((_, i) => row.sequenceIds[i] === id);
    const found = all.find(
      ({ history }) =>
        history.turns
          .filter((_, i) => i % 2 === 0)
          .flat()
          .join() === targets.join(),
    );
    const index = seen.get(id) ?? 0;
    seen.set(id, index + 1);
    return { ...found!, index };
  });
}

/** The log-probabilities of a row's trained tokens under the initial policy of the job. */
export const startLogprobs = (packed: PackedRow): Float32Array =>
  Float32Array.from(placesOf(packed), ({ history, index }) => history.start[index]!);
