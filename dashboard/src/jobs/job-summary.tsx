// The state of a job: status, time, what was skipped and why, and its warnings.
import type { JobEvent } from '../api/events.ts';
import type { JobDetail } from '../api/wire.ts';
import { SkippedList } from '../groups/skip-reason.tsx';
import { Section } from '../ui/page-head.tsx';
import { percent, whole } from '../ui/numbers.ts';
import { Failure } from '../ui/states.tsx';
import { Progress, Status } from '../ui/status.tsx';
import { Text } from '../ui/text.tsx';
import { Tile, Tiles } from '../ui/tiles.tsx';
import { Ago } from '../ui/time.tsx';
import { TimeLeft, took } from './job-cells.tsx';

export function JobSummary({ job, events }: { job: JobDetail; events: readonly JobEvent[] }) {
  const steps = events.findLast(({ type }) => type === 'gradient_step')?.data['gradient_step'];
  const started = events.find(({ type }) => type === 'training_started')?.data;
  const total = started?.['num_gradient_steps'];
  const skipped = Object.values(job.skipped).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <Tiles>
        <Tile label="Status" note={<Ago at={job.created_at} />}>
          <Status of={job.status} />
        </Tile>
        <Tile label="Progress" note={<Progress value={job.progress} label="Progress" />}>
          {percent(job.progress)}
        </Tile>
        <Tile label="Gradient steps" note={typeof total === 'number' ? `of ${whole(total)}` : undefined}>
          {whole(typeof steps === 'number' ? steps : 0)}
        </Tile>
        {job.training_end === null ? (
          <Tile label="Time left">
            <TimeLeft job={job} />
          </Tile>
        ) : (
          <Tile label="Duration">{took(job)}</Tile>
        )}
        <Tile label="Skipped" note={skipped > 0 ? 'trajectories; reasons below' : undefined}>
          {whole(skipped)}
        </Tile>
      </Tiles>
      {job.waiting_for !== null && <p class="panel">{job.waiting_for.message}</p>}
      <SkippedList skipped={job.skipped} />
      {job.error_message !== null && <Failure error={job.error_message} />}
      {job.warnings.length > 0 && (
        <Section title="Warnings">
          <ul class="panel warnings">
            {job.warnings.map((warning) => (
              <li key={warning}>
                <Text>{warning}</Text>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
