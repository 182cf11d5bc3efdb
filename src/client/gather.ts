// Rollouts into groups: many at once, each tried again where that may help. One that fails is left out and counted; it is never a
// reward of 0, which would teach the model that it did badly where only the network did.
import { isRefusal, pauseBefore } from './retry.ts';
import type { Trajectory, TrajectoryGroup } from './wire.ts';

/** Which rollout it is: enough to draw a seed from. */
export interface RolloutPlace {
  readonly group: number;
  readonly rollout: number;
  readonly signal: AbortSignal | undefined;
}

/** Plays one scenario. Several trajectories where one request gave several choices (`n`). */
export type Rollout<S> = (scenario: S, place: RolloutPlace) => Promise<Trajectory | readonly Trajectory[]>;

export interface GatherOptions<S> {
  /** Calls of `rollout` per scenario; their trajectories are compared with each other. Default 1. */
  readonly rollouts?: number;
  /** Rollouts at once, default 32. */
  readonly concurrency?: number;
  /** More tries for a rollout that threw, default 2. What the server refuses is not tried again. */
  readonly retries?: number;
  /** For whoever looks at the group later. */
  readonly metadata?: (scenario: S) => Readonly<Record<string, unknown>>;
  readonly onProgress?: (progress: GatherProgress) => void;
  readonly signal?: AbortSignal;
}

/** Rollouts. */
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
  /** One per scenario, in their order; the server gets the failures too. */
  readonly groups: readonly TrajectoryGroup[];
  /** Mean reward of the trajectories there are. */
  readonly reward: number;
  readonly trajectories: number;
  readonly failures: readonly RolloutFailure[];
}

/** Throws where no rollout succeeded, and when `signal` aborts. */
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
      if (wrong) throw new TypeError(`The reward of a rollout is ${wrong.reward}, which is no number.`);
      return trajectories;
    } catch (error) {
      if (attempt > retries || isRefusal(error)) throw error;
      await pauseBefore(attempt, error, signal);
    }
  }
}

/** In the form in which jobs show it. */
const describe = (error: unknown) =>
  error instanceof Error ? { type: error.name, message: error.message } : { type: null, message: String(error) };

function allFailed(failures: readonly RolloutFailure[]): Error {
  const [{ error }] = failures as [RolloutFailure];
  return new Error(`All ${failures.length} rollouts failed, the first with: ${describe(error).message}`, {
    cause: error,
  });
}
