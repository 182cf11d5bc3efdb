import { expect, test } from 'vitest';
import { gather } from './gather.ts';
import { ApiError } from './http.ts';
import type { Trajectory } from './wire.ts';

const worth = (reward: number): Trajectory => ({ messages_and_choices: [], reward });

test('rollouts come back by scenario, whichever ends first', async () => {
  const { groups, reward, trajectories } = await gather(
    [1, 2],
    async (scenario, { rollout }) => {
      await new Promise((resolve) => setTimeout(resolve, 3 - scenario));
      return [worth(scenario), worth(scenario + rollout)];
    },
    { rollouts: 2, metadata: (scenario) => ({ scenario }) },
  );
  expect(groups).toEqual([
    { trajectories: [worth(1), worth(1), worth(1), worth(2)], metadata: { scenario: 1 } },
    { trajectories: [worth(2), worth(2), worth(2), worth(3)], metadata: { scenario: 2 } },
  ]);
  expect([reward, trajectories]).toEqual([14 / 8, 8]);
});

test('a rollout that fails is left out and counted, and is no reward of 0', async () => {
  const seen: unknown[] = [];
  const { groups, reward, failures } = await gather(
    ['fine', 'broken'],
    async (scenario, { rollout }) => {
      if (scenario === 'broken' && rollout === 1) throw new ApiError(400, 'too long', 'context_too_long', null, null);
      return worth(1);
    },
    { rollouts: 2, concurrency: 1, onProgress: (progress) => seen.push(progress) },
  );
  expect(reward).toBe(1);
  expect(groups[1]).toEqual({ trajectories: [worth(1)], exceptions: [{ type: 'ApiError', message: 'too long' }] });
  expect(failures).toMatchObject([{ group: 1, rollout: 1, error: { status: 400 } }]);
  expect(seen.at(-1)).toEqual({ done: 3, failed: 1, total: 4 });
});

test('a failed rollout is retried, unless the server refused it', async () => {
  let [away, refused] = [0, 0];
  const play = async (scenario: string) => {
    if (scenario === 'away' && away++ < 2) throw new ApiError(503, 'Busy.', null, null, null, 1);
    if (scenario === 'refused' && refused++ < 2) throw new ApiError(404, 'No model.', null, null, null);
    return worth(0.5);
  };
  const { reward, failures } = await gather(['away', 'refused'], play);
  expect([reward, failures.length, away, refused]).toEqual([0.5, 1, 3, 1]);
});

test('a reward that is not a number is a failure', async () => {
  const play = async (scenario: number) => worth(scenario);
  const { reward, failures } = await gather([1, NaN], play, { retries: 0 });
  expect([reward, failures.map(({ group }) => group)]).toEqual([1, [1]]);
});

test('if no rollout succeeds there is nothing to train on, and the error names the cause', async () => {
  const cause = new ApiError(401, 'Invalid API key.', null, null, null);
  const gathering = gather([1, 2], () => Promise.reject(cause));
  await expect(gathering).rejects.toMatchObject({
    message: 'All 2 rollouts failed, the first with: Invalid API key.',
    cause,
  });
});

test('no more rollouts at once than asked for, and none after an abort', async () => {
  let [running, most] = [0, 0];
  const stop = new AbortController();
  const played: number[] = [];
  const gathering = gather(
    Array.from({ length: 20 }, (_, i) => i),
    async (scenario) => {
      most = Math.max(most, ++running);
      await new Promise(setImmediate);
      running--;
      played.push(scenario);
      if (scenario === 9) stop.abort(new Error('enough'));
      return worth(1);
    },
    { concurrency: 3, signal: stop.signal },
  );
  await expect(gathering).rejects.toThrow('enough');
  expect(most).toBe(3);
  expect(played.length).toBeLessThan(14);
});
