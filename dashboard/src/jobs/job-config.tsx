// What a job trains on, and its settings, including defaults.
import { settingLines } from '../../../src/base/setting-lines.ts';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { hrefOfUri } from '../ui/artifact-page.ts';
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
              {input.uri !== null && (
                <div>
                  <dt>data</dt>
                  <dd>
                    <a href={hrefOfUri(input.uri)}>
                      <Text>{shortName(input.uri)}</Text>
                    </a>
                  </dd>
                </div>
              )}
              {settingLines(settings).map(([name, value]) => (
                <div key={name}>
                  <dt>
                    <Text>{name}</Text>
                  </dt>
                  <dd>
                    <Text>{value}</Text>
                  </dd>
                </div>
              ))}
            </dl>
          </div>
        )}
      </Loaded>
    </Section>
  );
}
