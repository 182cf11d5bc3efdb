// The message field. Enter sends, Shift+Enter starts a new line.
import { useState } from 'preact/hooks';

interface ComposerProps {
  readonly isBusy: boolean;
  /** Why a message cannot be sent; null: it can. */
  readonly obstacle: string | null;
  /** The model waits for the result of a tool call. */
  readonly awaitsTool: boolean;
  readonly send: (role: string, text: string) => void;
  readonly stop: () => void;
  readonly clear: (() => void) | null;
}

export function Composer({ isBusy, obstacle, awaitsTool, send, stop, clear }: ComposerProps) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const role = chosen ?? (awaitsTool ? 'tool' : 'user');
  const cannot = isBusy || obstacle !== null || text === '';

  function submit() {
    if (cannot) return;
    send(role, text);
    setText('');
    setChosen(null);
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        rows={3}
        aria-label="Message"
        placeholder={role === 'tool' ? 'Result of the tool call' : 'Ask something'}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <div class="row">
        <label>
          as{' '}
          <select value={role} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
            {['user', 'tool', 'assistant', 'system'].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {isBusy ? (
          <button type="button" class="danger" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="submit" class="primary" disabled={cannot}>
            Send
          </button>
        )}
        {clear && (
          <button type="button" onClick={clear}>
            Clear
          </button>
        )}
        {obstacle !== null && <span class="problem small">{obstacle}</span>}
      </div>
    </form>
  );
}
