// What a page shows in place of data: loading, empty, or a failure with the server's message.
import type { ComponentChildren } from 'preact';
import { ApiError } from '../api/client.ts';
import type { Load } from '../api/use-load.ts';
import { Text } from './text.tsx';

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

export const Loading = () => (
  <div class="state" role="status">
    Loading…
  </div>
);

export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div class="state failure" role="alert">
      <Text block>{error instanceof Error ? error.message : String(error)}</Text>
      {requestId && <p class="muted small">Request {requestId}</p>}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Draws `children` once the value is loaded, with an error above it if a later reload failed. */
export function Loaded<T>({ of, children }: { of: Load<T>; children: (value: T) => ComponentChildren }) {
  if (of.state === 'loading') return <Loading />;
  if (of.state === 'failed') return <Failure error={of.error} retry={of.reload} />;
  return (
    <>
      {of.lost !== null && <Failure error={of.lost} retry={of.reload} />}
      {children(of.value)}
    </>
  );
}
