// Starts a job on an artifact: SFT on conversations, DPO on preference pairs, as its first row says. Settings that are left empty are the
// server's defaults.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { goTo, hrefTo } from '../router.ts';
import { ModelFilter, type FoundModel } from '../ui/model-filter.tsx';
import { Section } from '../ui/page-head.tsx';
import { Failure } from '../ui/states.tsx';
import type { Artifact } from './artifact-name.ts';
import { ROWS } from './dataset-row.tsx';
import { jobConfigOf, SETTINGS, type Kind, type Settings } from './job-settings.ts';

const URLS = { sft: '/v1/preview/sft-training-jobs', dpo: '/v1/preview/dpo-training-jobs' } as const;

/** Over the server's first base model, as `whetstone models create` does. */
async function createModel(project: string, name: string): Promise<FoundModel> {
  const [base_model] = await call('get', '/v1/preview/base-models');
  const { id } = await call('post', '/v1/preview/models', { body: { project, name, base_model } });
  return { id, name: `${project}/${name}` };
}

export function TrainForm({ artifact, path }: { artifact: Artifact; path: string }) {
  const { entity, project, name, version, uri } = artifact;
  const [model, setModel] = useState<FoundModel | null>(null);
  const [asked, setAsked] = useState<Kind | null>(null);
  const [settings, setSettings] = useState<Settings>({});
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const first = useLoad(
    (signal) =>
      call('get', ROWS, {
        path: { entity, project, artifact: `${name}:${version}` },
        query: { path, limit: 1 },
        signal,
      }),
    [artifact.id, path],
  );
  const found: Kind = first.state === 'ready' && first.value.data[0]?.chosen ? 'dpo' : 'sft';
  const kind = asked ?? found;

  async function start(event: SubmitEvent) {
    event.preventDefault();
    if (!model) return setError(new Error('Choose a model first.'));
    setError(null);
    setBusy(true);
    try {
      const body = { model_id: model.id, training_data_url: uri, config: jobConfigOf(settings) };
      const { id } = await call('post', URLS[kind], { body });
      goTo(hrefTo('/jobs/{id}', { id }));
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  }

  return (
    <Section title="Train a model on it">
      <form class="panel upload" onSubmit={(event) => void start(event)}>
        <div class="row">
          <ModelFilter label="Model" value={model?.id ?? ''} choose={setModel} create={createModel} />
          <label>
            Job{' '}
            <select value={kind} onChange={({ currentTarget }) => setAsked(currentTarget.value as Kind)}>
              <option value="sft">SFT, on conversations</option>
              <option value="dpo">DPO, on preference pairs</option>
            </select>
          </label>
          {SETTINGS.map(({ name: setting, label, ...attributes }) => (
            <label key={setting}>
              {label}{' '}
              <input
                type="number"
                {...attributes}
                placeholder="default"
                value={settings[setting] ?? ''}
                onInput={({ currentTarget }) => setSettings({ ...settings, [setting]: currentTarget.value })}
              />
            </label>
          ))}
          <button class="primary" type="submit" disabled={busy}>
            Start
          </button>
        </div>
        {error !== null && <Failure error={error} />}
      </form>
    </Section>
  );
}
