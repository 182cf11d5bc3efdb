// Asks for the key first, then shows the page that the address names, in the frame that all pages share.
import { useEffect, useRef } from 'preact/hooks';
import { useKey } from './api/key.ts';
import { matchPath, useAddress, type Address } from './router.ts';
import { ROUTES, type Route } from './routes.tsx';
import { Shell } from './shell.tsx';
import { AskKey } from './ui/ask-key.tsx';
import { ErrorBoundary } from './ui/error-boundary.tsx';
import { keepPlace } from './ui/keep-place.ts';
import { PageHead } from './ui/page-head.tsx';
import { Empty } from './ui/states.tsx';

export function App() {
  const key = useKey();
  const address = useAddress();
  const found = findPage(address.path);
  const title = found?.route.title ?? 'Page not found';
  if (key === null) return <AskKey />;
  return (
    <Shell path={address.path} title={title} help={found?.route.help}>
      <Page key={address.path} address={address} title={title} found={found} />
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

/**
 * Takes the focus when the address changes, so that a keyboard or a screen reader continues here; not on the first page. Back returns to
 * the place in the page.
 */
function Page({ address, title, found }: { address: Address; title: string; found: Found | null }) {
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    if (document.activeElement !== document.body) main.current?.focus({ preventScroll: true });
    return keepPlace(main.current!);
  }, []);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <ErrorBoundary>
        {found ? (
          <found.route.page params={found.params} query={address.query} />
        ) : (
          <>
            <PageHead title={title} />
            <Empty title="No page has this address">
              <a href="#/">Home</a> has the models and jobs.
            </Empty>
          </>
        )}
      </ErrorBoundary>
    </main>
  );
}
