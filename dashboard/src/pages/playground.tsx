// Chat with one checkpoint or with two at once, using everything a request can contain; see how likely each token was, and copy the
// request as code. The address names the models.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { Composer } from '../playground/composer.tsx';
import { CopyAs } from '../playground/copy-as.tsx';
import { readSettings, type Settings } from '../playground/fields.ts';
import { LaneView } from '../playground/lane-view.tsx';
import { ModelChoice } from '../playground/model-choice.tsx';
import { SettingsForm } from '../playground/settings-form.tsx';
import { messagesOf, useLane } from '../playground/use-lane.ts';
import { replaceQuery, type PageProps } from '../router.ts';
import { ShadingChoice } from '../tokens/shading-choice.tsx';
import type { Shading } from '../tokens/tone.ts';
import { PageHead } from '../ui/page-head.tsx';
import { shortName } from '../ui/short-name.ts';

/** Alternatives to request for each token. */
const TOP_LOGPROBS = 5;
const SHADINGS = ['logprob', 'none'] as const;

export function PlaygroundPage({ query }: PageProps) {
  const models = useLoad((signal) => call('get', '/v1/models', { signal }), []);
  const [isCompared, setCompared] = useState(query.has('other'));
  const model = query.get('model') ?? '';
  const other = isCompared ? (query.get('other') ?? '') : null;
  const [settings, setSettings] = useState<Settings>({ max_tokens: '200' });
  const [shading, setShading] = useState<Shading>('logprob');
  const [first, second] = [useLane(), useLane()];
  const lanes =
    other === null
      ? [{ lane: first, model }]
      : [
          { lane: first, model },
          { lane: second, model: other },
        ];
  const { values, problems } = readSettings(settings);
  const system = settings['system'] ?? '';
  const wrong = Object.keys(problems)[0];
  const named = models.state === 'ready' ? models.value.data.map(({ id }) => id) : [];
  const steps = useLoad((signal) => readSteps([model, other ?? ''], signal), [], { version: `${model} ${other}` });
  const names = [...named, ...(steps.state === 'ready' ? steps.value : [])].map(shortName);

  const requestTo = (name: string) => ({ ...(name === '' ? {} : { model: name }), ...values });
  const streamed = {
    stream: true,
    stream_options: { include_usage: true },
    ...{ logprobs: true, top_logprobs: TOP_LOGPROBS, return_tokens_as_token_ids: false, return_token_ids: true },
  };
  const isBusy = lanes.some(({ lane }) => lane.isBusy);
  const lastAnswer = first.turns.at(-1);
  return (
    <>
      <PageHead title="Playground" />
      <div class="playground">
        <div class="stage">
          <ModelChoice
            {...{ names, model, other }}
            setModel={(name) => replaceQuery({ model: name })}
            setOther={(name) => {
              setCompared(name !== null);
              replaceQuery({ other: name });
            }}
          />
          <ShadingChoice value={shading} choose={setShading} among={SHADINGS} />
          <div class="lanes">
            {lanes.map(({ lane, model: name }, at) => (
              <LaneView key={at} name={`Conversation ${at + 1}`} model={name} turns={lane.turns} shading={shading} />
            ))}
          </div>
          <Composer
            isBusy={isBusy}
            obstacle={wrong === undefined ? null : `${wrong}: ${problems[wrong]}`}
            awaitsTool={lastAnswer?.kind === 'answered' && (lastAnswer.answer.choices[0]?.calls.length ?? 0) > 0}
            send={(role, text) => {
              for (const { lane, model: name } of lanes)
                lane.ask(system, role, text, { ...requestTo(name), ...streamed });
            }}
            stop={() => lanes.forEach(({ lane }) => lane.stop())}
            clear={first.turns.length === 0 ? null : () => [first, second].forEach((lane) => lane.clear())}
          />
          <CopyAs
            request={() => ({
              url: new URL('./', document.baseURI).href.replace(/[?#].*$/, '').replace(/\/$/, ''),
              body: { ...requestTo(model), messages: askedOf(messagesOf(system, first.turns)) },
            })}
          />
        </div>
        <aside aria-label="Settings">
          <SettingsForm
            settings={settings}
            problems={problems}
            change={(name, typed) => setSettings((before) => ({ ...before, [name]: typed }))}
          />
        </aside>
      </div>
    </>
  );
}

/** Up to the last question, which is what a request would send. Before the first question, a greeting is used. */
function askedOf(messages: readonly unknown[]): readonly unknown[] {
  const last = messages.findLastIndex((message) => (message as { role: string }).role !== 'assistant');
  const asked = messages.slice(0, last + 1);
  return asked.some((message) => (message as { role: string }).role === 'user')
    ? asked
    : [...asked, { role: 'user', content: 'Hello.' }];
}

const STEPS_OFFERED = 100;

/** Of the models that are typed: the newest ones, to be offered. A name that is no model's, or not yet, has none. */
async function readSteps(typed: readonly string[], signal: AbortSignal): Promise<string[]> {
  const models = new Set(
    typed.filter((name) => name.includes('/')).map((name) => name.replace(/(?::step|:v|@)\d*$/, '')),
  );
  const lists = [...models].map(async (steps_of) => {
    const asked = call('get', '/v1/models', { query: { steps_of, limit: STEPS_OFFERED }, signal });
    return (await asked.catch(() => null))?.data.map(({ id }) => id) ?? [];
  });
  return (await Promise.all(lists)).flat();
}
