// Asks for the key once, and checks it with the server before storing it: until the browser is closed, or on this device.
import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { setKey } from '../api/key.ts';
import { Failure } from './states.tsx';

export function AskKey() {
  const input = useRef<HTMLInputElement>(null);
  const isKept = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => void (document.title = 'Whetstone'), []);

  async function tryKey(event: SubmitEvent) {
    event.preventDefault();
    const key = input.current!.value.trim();
    if (!/^[!-~]+$/.test(key)) return setError(new Error('A key has ASCII characters and no spaces. Copy it again.'));
    setBusy(true);
    setError(null);
    try {
      await call('get', '/v1/models', { headers: { authorization: `Bearer ${key}` } });
      setKey(key, { onDevice: isKept.current!.checked });
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  }

  return (
    <main class="ask-key">
      <form onSubmit={(event) => void tryKey(event)}>
        <h1>Whetstone</h1>
        <label>
          API key
          <input
            ref={input}
            type="password"
            required
            autoFocus
            autoComplete="off"
            spellcheck={false}
            placeholder="wk-…"
          />
        </label>
        <label class="row">
          <input ref={isKept} type="checkbox" /> Remember it on this device
        </label>
        <p class="muted small">
          Otherwise it is kept until the tabs of this server are closed. The server prints one when it starts for the
          first time; <code>whetstone keys create</code> creates more.
        </p>
        <button class="primary" type="submit" disabled={busy}>
          Open
        </button>
        {error !== null && <Failure error={error} />}
      </form>
    </main>
  );
}
