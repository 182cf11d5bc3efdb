// What a page shows in place of data: loading, empty, or a failure with the server's message.
import type { ComponentChildren } from 'preact';
import { ApiError } from '../api/client.ts';
import type { Load } from '../api/use-load.ts';
import { PageHead } from './page-head.tsx';
import { Text, visibleText } from './text.tsx';

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

export const Loading = () => (
  <div class="state loading" role="status">
    Loading…
  </div>
);

/** What was deleted, or never was, is no failure of the server. */
const NOT_THERE = 404;

export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { requestId = null, status = 0 } = error instanceof ApiError ? error : {};
  if (status === NOT_THERE) return <Empty title={visibleText((error as ApiError).message)} />;
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

interface LoadedProps<T> {
  readonly of: Load<T>;
  /** What the page is about, where `children` draws its head. */
  readonly page?: string;
  readonly children: (value: T) => ComponentChildren;
}

/** Draws `children` once the value is loaded, with an error above it if a later reload failed. */
export function Loaded<T>({ of, page, children }: LoadedProps<T>) {
  if (of.state !== 'ready')
    return (
      <>
        {page && <PageHead title={page} />}
        {of.state === 'loading' ? <Loading /> : <Failure error={of.error} retry={of.reload} />}
      </>
    );
  return (
    <>
      {of.lost !== null && <Failure error={of.lost} retry={of.reload} />}
      {children(of.value)}
    </>
  );
}
