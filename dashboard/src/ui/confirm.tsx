// A button that asks for confirmation before an irreversible action, in the browser's own dialog: focus stays inside, Escape closes it.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Failure } from './states.tsx';

interface ConfirmProps {
  /** Label of the button, and of the confirming button in the dialog. */
  readonly action: string;
  readonly question: ComponentChildren;
  readonly onConfirm: () => Promise<void>;
  readonly disabled?: boolean;
}

export function Confirm({ action, question, onConfirm, disabled = false }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  async function confirm() {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      dialog.current?.close();
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  }

  return (
    <>
      <button type="button" disabled={disabled} onClick={() => dialog.current?.showModal()}>
        {action}
      </button>
      <dialog ref={dialog} aria-label={action}>
        <div class="confirm">
          <div>{question}</div>
          {error !== null && <Failure error={error} />}
          <div class="row">
            <button class="danger" type="button" disabled={busy} onClick={() => void confirm()}>
              {action}
            </button>
            <button type="button" onClick={() => dialog.current?.close()}>
              Go back
            </button>
          </div>
        </div>
      </dialog>
    </>
  );
}
