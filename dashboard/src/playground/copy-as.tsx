// Shows the request as code, and copies it.
import { useState } from 'preact/hooks';
import { SNIPPETS, type SnippetKind, type SnippetRequest } from './snippets.ts';

const KINDS = Object.keys(SNIPPETS) as SnippetKind[];

export function CopyAs({ request }: { request: () => SnippetRequest }) {
  const [shown, setShown] = useState<{ kind: SnippetKind; text: string; isCopied: boolean } | null>(null);

  async function copy(kind: SnippetKind) {
    const text = SNIPPETS[kind].write(request());
    setShown({ kind, text, isCopied: false });
    // Without https, browsers give pages no clipboard: the user can select the text instead.
    const isCopied = await (navigator.clipboard as Clipboard | undefined)?.writeText(text).then(
      () => true,
      () => false,
    );
    setShown({ kind, text, isCopied: isCopied ?? false });
  }

  return (
    <div class="copy-as">
      <div class="row">
        <span class="muted small">Copy as</span>
        {KINDS.map((kind) => (
          <button key={kind} type="button" onClick={() => void copy(kind)}>
            {SNIPPETS[kind].label}
          </button>
        ))}
        {shown && (
          <button type="button" class="link" onClick={() => setShown(null)}>
            Hide
          </button>
        )}
        <span role="status" class="muted small">
          {shown?.isCopied ? 'Copied.' : ''}
        </span>
      </div>
      {shown && (
        <pre class="panel" tabIndex={0} aria-label={`Request as ${SNIPPETS[shown.kind].label}`}>
          {shown.text}
        </pre>
      )}
    </div>
  );
}
