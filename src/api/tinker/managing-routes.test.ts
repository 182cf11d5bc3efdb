import { expect, test } from 'vitest';
import type { TinkerCheckpoint, TinkerRun } from '#domain/tinker';
import type { Saves } from '#services/tinker/saves';
import type { TinkerSessions } from '#services/tinker/tinker-sessions';
import { aCaller } from '../../../test/support/a-caller.ts';
import { managingRoutes } from './managing-routes.ts';

const METADATA = { text: 'x'.repeat(65_000) };
const RUNS = Array.from({ length: 50 }, (_, i) => ({
  id: `run-${i}`,
  entity: 'team',
  lora: { rank: 1 },
  usedAtMs: 0,
  metadata: METADATA,
})) as unknown as readonly TinkerRun[];

test('a page of runs ends before their saves make it too heavy, and few saves are read at once', async () => {
  const asked: number[] = [];
  const sessions = { listRuns: async () => ({ rows: RUNS, total: 70 }) } as unknown as TinkerSessions;
  const saves = {
    async newest(_: string, runs: readonly TinkerRun[]) {
      asked.push(runs.length);
      const saved = ({ id: runId }: TinkerRun) =>
        ['weights', 'sampler_weights'].map((kind) => ({
          runId,
          kind,
          createdAtMs: 0,
          expiresAtMs: null,
          metadata: METADATA,
        }));
      return new Map(runs.map((run) => [run.id, saved(run) as unknown as readonly TinkerCheckpoint[]]));
    },
  } as unknown as Saves;
  const route = managingRoutes({ sessions, saves }).find(({ path }) => path.endsWith('/training_runs'))!;
  const query = { limit: 50, offset: 20, access_scope: 'owned' };
  const answer = (await route.handle({ caller: aCaller(), query } as never)) as {
    training_runs: object[];
    cursor: object;
  };
  expect(answer.training_runs).toHaveLength(20); // 195 kB each, of 4 MB
  expect(answer.cursor).toEqual({ offset: 20, limit: 50, total_count: 70 });
  expect(asked).toEqual([20, 20]);
});
