// Collects rollouts into groups: many at once, each retried if that may help. A failed rollout is left out and counted; it never gets
// a reward of 0, which would train the model for a failure of the network.
import { isRefusal, pauseBefore } from './retry.ts';
import type { Trajectory, TrajectoryGroup } from './wire.ts';

/** Identifies the rollout, for example to derive a seed. */
export interface RolloutPlace {
  readonly group: number;
  readonly rollout: number;
  readonly signal: AbortSignal | undefined;
}

/** Plays one scenario. Returns several trajectories if one request returned several choices (`n`). */
export type Rollout<S> = (scenario: S, place: RolloutPlace) => Promise<Trajectory | readonly Trajectory[]>;

export interface GatherOptions<S> {
  /** Calls of `rollout` per scenario; their trajectories are compared with each other. Default 1. */
  readonly rollouts?: number;
  /** How many rollouts run at once. Default 32. */
  readonly concurrency?: number;
  /** How often a rollout that threw is retried. Default 2. Requests that the server refuses are not retried. */
  readonly retries?: number;
  /** Stored with the group. */
  readonly metadata?: (scenario: S) => Readonly<Record<string, unknown>>;
  readonly onProgress?: (progress: GatherProgress) => void;
  readonly signal?: AbortSignal;
}

/** Counts rollouts. */
export interface GatherProgress {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

export interface RolloutFailure {
  readonly group: number;
  readonly rollout: number;
  readonly error: unknown;
}

export interface Gathered {
  /** One group per scenario, in order; the server also receives the failures. */
  readonly groups: readonly TrajectoryGroup[];
  /** Mean reward of all trajectories. */
  readonly reward: number;
  readonly trajectories: number;
  readonly failures: readonly RolloutFailure[];
}

/** Throws if no rollout succeeded, and when `signal` aborts. */
export async function gather<S>(
  scenarios: Iterable<S>,
  rollout: Rollout<S>,
  { rollouts = 1, concurrency = 32, retries = 2, metadata, onProgress, signal }: GatherOptions<S> = {},
): Promise<Gathered> {
  const asked = [...scenarios];
  const found: Trajectory[][][] = asked.map(() => Array.from({ length: rollouts }, () => [])); // [group][rollout][trajectory]
  const failures: RolloutFailure[] = [];
  const places = asked.flatMap((_, group) => Array.from({ length: rollouts }, (_, rollout) => ({ group, rollout })));
  const waiting = places.values();
  let done = 0;

  async function play(): Promise<void> {
    for (const { group, rollout: at } of waiting) {
      signal?.throwIfAborted();
      try {
        const place = { group, rollout: at, signal };
        found[group]![at] = await withRetries(() => rollout(asked[group]!, place), retries, signal);
        done++;
      } catch (error) {
        signal?.throwIfAborted();
        failures.push({ group, rollout: at, error });
      }
      onProgress?.({ done, failed: failures.length, total: places.length });
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, places.length) }, play));

  if (done === 0 && failures.length > 0) throw allFailed(failures);
  const groups = found.map((group, at): TrajectoryGroup => {
    const exceptions = failures.filter(({ group }) => group === at).map(({ error }) => describe(error));
    return {
      trajectories: group.flat(),
      ...(exceptions.length > 0 ? { exceptions } : {}),
      ...(metadata ? { metadata: metadata(asked[at]!) } : {}),
    };
  });
  const rewards = groups.flatMap(({ trajectories }) => trajectories.map(({ reward }) => reward));
  const reward = rewards.reduce((sum, each) => sum + each, 0) / Math.max(1, rewards.length);
  return { groups, reward, trajectories: rewards.length, failures };
}

async function withRetries(
  play: () => Promise<Trajectory | readonly Trajectory[]>,
  retries: number,
  signal: AbortSignal | undefined,
): Promise<Trajectory[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const played = await play();
      const trajectories = Array.isArray(played) ? (played as Trajectory[]) : [played as Trajectory];
      const wrong = trajectories.find(({ reward }) => !Number.isFinite(reward));
      if (wrong) throw new TypeError(`The reward of a rollout is ${wrong.reward}, which is not a number.`);
      return trajectories;
    } catch (error) {
      if (attempt > retries || isRefusal(error)) throw error;
      await pauseBefore(attempt, error, signal);
    }
  }
}

/** The form in which jobs show errors. */
const describe = (error: unknown) =>
  error instanceof Error ? { type: error.name, message: error.message } : { type: null, message: String(error) };

function allFailed(failures: readonly RolloutFailure[]): Error {
  const [{ error }] = failures as [RolloutFailure];
  return new Error(`All ${failures.length} rollouts failed, the first with: ${describe(error).message}`, {
    cause: error,
  });
}
