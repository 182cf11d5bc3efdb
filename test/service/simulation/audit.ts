// What must hold at every moment and at the end, whatever died (invariants 1 to 4 of the design, and the lease). Each violation is a sentence;
// the first one ends a run.
import { isFinished, type TrainingJob } from '#domain/training-job';
import type { SharedDatabase } from './shared-database.ts';

export class Violation extends Error {}

/**
 * What no commit may leave behind. Each query returns the ids of rows that break its rule.
 */
const NEVER: Readonly<Record<string, string>> = {
  'a checkpoint is visible before its job has succeeded': `
    select c.id from checkpoints c where c.step > 0 and not exists (
      select 1 from training_jobs j where j.model_id = c.model_id and j.step = c.step and j.status = 'succeeded')`,
  'a job has succeeded without its checkpoint': `
    select j.id from training_jobs j where j.status = 'succeeded' and not exists (
      select 1 from checkpoints c where c.model_id = j.model_id and c.step = j.step)`,
  'a job has ended without exactly one closing event': `
    select j.id from training_jobs j where j.status in ('succeeded', 'failed', 'cancelled') and 1 <> (
      select count(*) from training_events e where e.job_id = j.id and e.type in ('training_ended', 'training_failed'))`,
  'a closing event is visible before its job has ended': `
    select j.id from training_jobs j where j.status in ('queued', 'running') and exists (
      select 1 from training_events e where e.job_id = j.id and e.type in ('training_ended', 'training_failed'))`,
  'an event follows the closing one': `
    select e.id from training_events e join training_events closing on closing.job_id = e.job_id
     where closing.type in ('training_ended', 'training_failed') and e.ordinal > closing.ordinal`,
  'training_started is visible before the step and the start of its job': `
    select j.id from training_jobs j join training_events e on e.job_id = j.id
     where e.ordinal = 0 and e.type = 'training_started' and (j.step is null or j.started_at_ms is null)`,
  'a gradient_step is visible while its job has no progress': `
    select j.id from training_jobs j join training_events e on e.job_id = j.id
     where e.type = 'gradient_step' and j.progress = 0 and j.status = 'running'`,
  'a job runs before an older one of its model has ended': `
    select j.id from training_jobs j join training_jobs older on older.model_id = j.model_id and older.ordinal < j.ordinal
     where j.status = 'running' and older.status in ('queued', 'running')`,
  'a job runs under no attempt of its own': `
    select id from training_jobs where status = 'running' and attempt = 0`,
  'a job that was claimed has been cancelled as if it waited': `
    select id from training_jobs where status = 'cancelled' and lease_until_ms is not null`,
  'events have a gap': `
    select e.job_id as id from training_events e where e.part = 0 group by e.job_id having count(*) <> max(e.ordinal) + 1`,
};

const ALL = Object.entries(NEVER)
  .map(([rule, query]) => `select '${rule}' as rule, id from (${query})`)
  .join(' union all ');

export async function auditRows({ rows }: Pick<SharedDatabase, 'rows'>): Promise<void> {
  const [broken] = await rows<{ rule: string; id: string }>(ALL);
  if (broken) throw new Violation(`${broken.rule} (${broken.id})`);
}

/** How a job ended; everything but times, which differ. */
export interface JobOutcome {
  readonly status: TrainingJob['status'];
  readonly errorMessage: string | null;
  readonly step: number | null;
  readonly events: readonly unknown[];
  readonly metrics: unknown;
  readonly adapter: string | null;
  readonly record: string | null;
}

/** `expected`: of an undisturbed run of the same jobs of the model that succeeded before it. */
export function compareOutcome(name: string, found: JobOutcome, expected: JobOutcome, wasCancelled: boolean): void {
  if (!isFinished(found.status)) throw new Violation(`${name} has not ended`);
  if (found.status === 'cancelled' && wasCancelled) {
    const closing = { type: 'training_failed', data: { error_message: 'cancelled' } };
    expectEqual(`the events of ${name}, which was cancelled,`, found.events, [
      ...expected.events.slice(0, found.events.length - 1),
      closing,
    ]);
    return;
  }
  for (const key of ['status', 'errorMessage', 'step', 'events', 'metrics', 'adapter', 'record'] as const) {
    expectEqual(`${key} of ${name}`, found[key], expected[key]);
  }
}

function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a === b) return;
  let at = 0;
  while (a && b && a[at] === b[at]) at++;
  const near = (text: string | undefined) => text?.slice(Math.max(0, at - 60), at + 120);
  throw new Violation(`${what} differ from an undisturbed run: …${near(a)}… instead of …${near(b)}…`);
}
