// The settings of a job, including defaults.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { Section } from '../ui/page-head.tsx';
import { shortName } from '../ui/short-name.ts';
import { Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';

export function JobConfigSection({ jobId, isOver }: { jobId: string; isOver: boolean }) {
  const config = useLoad(
    (signal) =>
      call('get', '/v1/preview/training-jobs/{training_job_id}/config', { path: { training_job_id: jobId }, signal }),
    [jobId],
    { version: String(isOver) },
  );
  return (
    <Section
      title="Settings"
      aside={
        config.state === 'ready' &&
        (config.value.as_trained ? 'as trained' : 'as this version of the server would train')
      }
    >
      <Loaded of={config}>
        {({ config: settings, input }) => (
          <div class="panel settings" role="region" aria-label="Settings" tabIndex={0}>
            <dl>
              {Object.entries({ ...settings, ...(input.uri === null ? {} : { data: shortName(input.uri) }) }).map(
                ([name, value]) => (
                  <div key={name}>
                    <dt>
                      <Text>{name}</Text>
                    </dt>
                    <dd>
                      <Text>{typeof value === 'string' ? value : JSON.stringify(value)}</Text>
                    </dd>
                  </div>
                ),
              )}
            </dl>
          </div>
        )}
      </Loaded>
    </Section>
  );
}
