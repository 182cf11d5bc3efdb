// The sampling settings of an evaluation: only answers sampled with the same settings can be compared.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { KeyValues } from '../ui/facts.tsx';

export function EvaluationSettings({ jobId }: { jobId: string }) {
  const detail = useLoad(
    (signal) =>
      call('get', '/v1/preview/training-jobs/{training_job_id}/evaluation', {
        path: { training_job_id: jobId },
        signal,
      }),
    [jobId],
  );
  if (detail.state !== 'ready') return null;
  const { settings, source, log } = detail.value;
  if (settings === null) return <p class="muted">Prompts and answers are no longer stored.</p>;
  const { stop, chat_template_kwargs: kwargs, ...numbers } = settings;
  const shown = Object.entries({
    ...numbers,
    ...(stop.length > 0 ? { stop } : {}),
    ...(Object.keys(kwargs).length > 0 ? { chat_template_kwargs: kwargs } : {}),
    ...(source === null ? {} : { prompts: source }),
    ...(log === null ? {} : { 'rewards from split': log.split }),
  }).filter(([, value]) => value !== null);
  return (
    <div class="asked-with">
      <KeyValues values={Object.fromEntries(shown.map(([name, value]) => [name.replaceAll('_', ' '), value]))} />
    </div>
  );
}
