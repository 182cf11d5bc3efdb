// Health checks: one per component that the server depends on, each with a deadline, so that a stuck component is reported instead of
// waited for.
import pTimeout from 'p-timeout';
import type { Clock } from '#base/clock';
import type { Storage } from '#storage/storage';
import type { BaseModels } from './models/base-models.ts';

export interface Check {
  readonly success: boolean;
  readonly durationMs: number;
  readonly errors: readonly string[];
}

export interface SystemCheck {
  readonly database: Check;
  readonly inference: Check;
  readonly training: Check;
}

export interface Health {
  check(): Promise<SystemCheck>;
  queuedJobs(): Promise<number>;
}

/** `trainingFaults`: why no job can run now; empty if all is well. */
export interface HealthDeps {
  readonly storage: Storage;
  /** Base models that this server samples from. */
  readonly baseModels: Pick<BaseModels, 'list'>;
  readonly trainingFaults: () => readonly string[];
  readonly clock: Clock;
  readonly deadlineMs: number;
}

export function createHealth({ storage, baseModels, trainingFaults, clock, deadlineMs }: HealthDeps): Health {
  async function timed(run: () => Promise<readonly string[]>): Promise<Check> {
    const startMs = clock.now();
    const fallback = () => [`no answer within ${deadlineMs} ms`];
    const errors = await pTimeout(run(), { milliseconds: deadlineMs, fallback }).catch(() => [
      'failed; see the server log',
    ]);
    return { success: errors.length === 0, durationMs: clock.now() - startMs, errors };
  }

  return {
    async check() {
      const [database, inference, training] = await Promise.all([
        timed(async () => {
          await storage.ping();
          return [];
        }),
        timed(async () =>
          baseModels
            .list()
            .filter(({ inference: engine }) => !engine.status().ready)
            .map(({ id, inference: engine }) => `${id} is not ready: ${engine.status().lastFailure ?? 'starting'}`),
        ),
        timed(async () => trainingFaults()),
      ]);
      return { database, inference, training };
    },
    queuedJobs: () => storage.jobs.count('queued', null),
  };
}
