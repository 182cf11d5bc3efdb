// Lists what needs attention, or says that nothing does. Loads the error and warnings of each of the newest jobs, again whenever the
// set of newest jobs or the status of one changes.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { JobLink, ModelLink } from '../jobs/job-cells.tsx';
import { Section } from '../ui/page-head.tsx';
import { Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';
import { concernsOf, type NewestJob } from './concerns.ts';

const SHOWN_FIRST = 4;

export function Attention({ newest }: { newest: readonly NewestJob[] }) {
  const [showsAll, setShowsAll] = useState(false);
  const details = useLoad((signal) => readDetails(newest, signal), [], {
    version: newest.map(({ id, status }) => `${id} ${status}`).join(' '),
  });
  return (
    <Section title="Needs attention">
      <Loaded of={details}>
        {(known) => {
          const concerns = concernsOf(newest, known);
          if (concerns.length === 0)
            return <p class="calm">Nothing. None of the newest jobs failed or has warnings.</p>;
          const left = concerns.length - SHOWN_FIRST;
          return (
            <ul class="concerns">
              {concerns.slice(0, showsAll ? undefined : SHOWN_FIRST).map(({ kind, job, text, also }) => (
                <li key={`${job.id} ${text}`} class={kind}>
                  <span class="concern-mark">{kind === 'failed' ? '✕ failed' : '! warning'}</span>
                  <Text>{text}</Text>
                  <span class="muted small">
                    <ModelLink model={job.model} /> · <JobLink job={job} />
                    {also > 0 && ` and ${also} more`} · <Ago at={job.created_at} />
                  </span>
                </li>
              ))}
              {left > 0 && (
                <li>
                  <button class="link" type="button" onClick={() => setShowsAll(!showsAll)}>
                    {showsAll ? 'Show fewer' : `Show ${left} more`}
                  </button>
                </li>
              )}
            </ul>
          );
        }}
      </Loaded>
    </Section>
  );
}

async function readDetails(jobs: readonly NewestJob[], signal: AbortSignal) {
  const details = await Promise.all(
    jobs.map(({ id }) =>
      call('get', '/v1/preview/training-jobs/{training_job_id}', { path: { training_job_id: id }, signal }),
    ),
  );
  return new Map(details.map((detail) => [detail.id, detail]));
}
