// Asks for the key first, then shows the page that the address names, in the frame that all pages share.
import { useEffect, useRef } from 'preact/hooks';
import { useKey } from './api/key.ts';
import { matchPath, usePlace, type Place } from './router.ts';
import { ROUTES, type Route } from './routes.tsx';
import { Shell } from './shell.tsx';
import { AskKey } from './ui/ask-key.tsx';
import { ErrorBoundary } from './ui/error-boundary.tsx';
import { Empty } from './ui/states.tsx';

export function App() {
  const key = useKey();
  const place = usePlace();
  const found = findPage(place.path);
  const title = found?.route.title ?? 'Page not found';
  useEffect(() => void (document.title = `${title} · Whetstone`), [title]);
  if (key === null) return <AskKey />;
  return (
    <Shell path={place.path} title={title}>
      <Page key={place.path} place={place} found={found} />
    </Shell>
  );
}

interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

function findPage(path: string): Found | null {
  for (const route of ROUTES) {
    const params = matchPath(route.path, path);
    if (params) return { route, params };
  }
  return null;
}

/** Takes the focus when the address changes, so that a keyboard or a screen reader continues here; not on the first page. */
function Page({ place, found }: { place: Place; found: Found | null }) {
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    if (document.activeElement !== document.body) main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <ErrorBoundary>
        {found ? (
          <found.route.page params={found.params} query={place.query} />
        ) : (
          <Empty title="Page not found">
            No page has this address. <a href="#/">Home</a> has the models and jobs.
          </Empty>
        )}
      </ErrorBoundary>
    </main>
  );
}
