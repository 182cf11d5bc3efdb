// Creates a key, and shows its secret once.
import { useState } from 'preact/hooks';
import { call, type Answer } from '../api/client.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Failure } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { LIMITS, limitsOf, type TypedLimits } from './limits.ts';

const SCOPES = { chat: true, train: true, read: true, admin: false, worker: false };

export function NewKey({ onMade }: { onMade: () => void }) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState(SCOPES);
  const [limits, setLimits] = useState<TypedLimits>({});
  const [made, setMade] = useState<Answer<'/v1/keys', 'post'> | null>(null);
  const [error, setError] = useState<unknown>(null);

  async function make(event: SubmitEvent) {
    event.preventDefault();
    setError(null);
    try {
      const wanted = Object.entries(scopes).flatMap(([scope, isOn]) => (isOn ? [scope] : []));
      setMade(await call('post', '/v1/keys', { body: { name, scopes: wanted, limits: limitsOf(limits) } }));
      setName('');
      setLimits({});
      onMade();
    } catch (refused) {
      setError(refused);
    }
  }

  return (
    <form class="panel new-key" onSubmit={(event) => void make(event)}>
      <h3>New key</h3>
      <div class="row">
        <label>
          Name{' '}
          <input value={name} required maxLength={200} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </label>
        <fieldset class="row">
          <legend class="sr-only">Scopes</legend>
          {Object.entries(scopes).map(([scope, isOn]) => (
            <label key={scope} class="check">
              <input type="checkbox" checked={isOn} onChange={() => setScopes({ ...scopes, [scope]: !isOn })} /> {scope}
            </label>
          ))}
        </fieldset>
        <button class="primary" type="submit">
          Create key
        </button>
      </div>
      <details>
        <summary>Limits</summary>
        <div class="row">
          {LIMITS.map(({ name: limit, label }) => (
            <label key={limit}>
              {label}{' '}
              <input
                type="number"
                min={0}
                step={1}
                placeholder="the team’s"
                value={limits[limit] ?? ''}
                onInput={({ currentTarget }) => setLimits({ ...limits, [limit]: currentTarget.value })}
              />
            </label>
          ))}
        </div>
      </details>
      {error !== null && <Failure error={error} />}
      {made && (
        <p role="status">
          <Text>{made.name}</Text>: <code class="secret">{made.secret}</code>{' '}
          <CopyButton text={made.secret} what="the key" />{' '}
          <span class="muted">Copy it now: it is not shown again.</span>
        </p>
      )}
    </form>
  );
}
