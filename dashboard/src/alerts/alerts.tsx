// Alerts, on every page: looks at the server from time to time and tells what happened meanwhile, until the user closes it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { JobDetail, Overview } from '../api/wire.ts';
import { JobLink, ModelLink } from '../jobs/job-cells.tsx';
import { Text } from '../ui/text.tsx';
import { alertsOf, endedSince, rememberLook, type Alert, type Seen } from './watch.ts';
import './alerts.css';

const LOOK_MS = 10_000;
/** Details are asked for at most this many jobs of one look; the next one asks for others. */
const DETAILS_MAX = 20;
const SHOWN_MAX = 4;

export function Alerts() {
  const seen = useRef<Seen | null>(null);
  const [alerts, setAlerts] = useState<readonly Alert[]>([]);
  const found = useLoad(async (signal) => (seen.current = await lookAgain(seen.current, signal)).found, [], {
    everyMs: LOOK_MS,
  });
  const news = found.state === 'ready' ? found.value : NONE;
  useEffect(() => {
    if (news.length === 0) return;
    const keys = new Set(news.map(({ key }) => key));
    setAlerts((before) => [...news, ...before.filter(({ key }) => !keys.has(key))]);
  }, [news]);
  if (alerts.length === 0) return null;
  const more = alerts.length - SHOWN_MAX;
  return (
    <section class="alerts" role="alert" aria-label="Alerts">
      <ul>
        {alerts.slice(0, SHOWN_MAX).map((alert) => (
          <li key={alert.key} class={`panel ${alert.kind}`}>
            <Told alert={alert} />
            <button
              type="button"
              class="link"
              aria-label="Close this alert"
              onClick={() => setAlerts(alerts.filter(({ key }) => key !== alert.key))}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      {alerts.length > 1 && (
        <button type="button" onClick={() => setAlerts([])}>
          {more > 0 ? `Close these and ${more} more` : 'Close all'}
        </button>
      )}
    </section>
  );
}

const NONE: readonly Alert[] = [];
const WORDS = { failed: '✕ failed', warned: '! warning', lost: '✕ worker' } as const;

const Told = ({ alert: { kind, text, job } }: { alert: Alert }) => (
  <div>
    <span class="alert-kind">{WORDS[kind]}</span>{' '}
    {job ? (
      <>
        <ModelLink model={job.model} /> · <JobLink job={job} />
      </>
    ) : (
      <a href="#/workers">Workers</a>
    )}
    <Text block>{text}</Text>
  </div>
);

async function lookAgain(
  before: Seen | null,
  signal: AbortSignal,
): Promise<Seen & { readonly found: readonly Alert[] }> {
  const look = await call('get', '/v1/overview', { signal });
  const workers = await workersOf(look, signal);
  const ended = before === null ? [] : endedSince(before, look);
  const jobs = ended.slice(0, DETAILS_MAX);
  const details = (await Promise.all(jobs.map(({ id }) => readDetail(id, signal)))).filter((each) => each !== null);
  const found = before === null ? NONE : alertsOf(before.workers, jobs, details, workers);
  return { ...rememberLook(before, look, details, workers, ended.slice(DETAILS_MAX)), found };
}

/** Null: it was deleted with its model. */
async function readDetail(training_job_id: string, signal: AbortSignal): Promise<JobDetail | null> {
  const path = { training_job_id };
  try {
    return await call('get', '/v1/preview/training-jobs/{training_job_id}', { path, signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Only keys that may see them. */
const workersOf = async ({ key }: Overview, signal: AbortSignal) =>
  key.scopes.includes('worker') ? (await call('get', '/v1/workers', { signal })).data : [];
