// Copies a text. Without https, browsers give pages no clipboard: the button then says so, and the user can select the text instead.
import { useState } from 'preact/hooks';

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [outcome, setOutcome] = useState('');
  async function copy() {
    const copied = (navigator.clipboard as Clipboard | undefined)?.writeText(text).then(
      () => true,
      () => false,
    );
    setOutcome((await copied) ? 'Copied.' : 'The browser does not allow it here: select the text.');
  }
  return (
    <>
      <button type="button" aria-label={`Copy ${what}`} onClick={() => void copy()}>
        Copy
      </button>{' '}
      <span role="status" class="muted small">
        {outcome}
      </span>
    </>
  );
}
