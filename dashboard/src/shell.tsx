// The frame of all pages: navigation, the page's title, its documentation, alerts, and the button that forgets the key. Knows routes, not
// pages.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Alerts } from './alerts/alerts.tsx';
import { forgetKey } from './api/key.ts';
import { DOCUMENTATION_PAGE, DOCUMENTATION_PATH } from './documentation/pages.ts';
import { hrefTo } from './router.ts';
import { ROUTES } from './routes.tsx';

interface ShellProps {
  readonly path: string;
  readonly title: string;
  /** The page of the documentation about this one. */
  readonly help?: string | undefined;
  readonly children: ComponentChildren;
}

export function Shell({ path, title, help, children }: ShellProps) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); // on a small screen
  }, [path]);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <header class="side scrolls-sideways">
        <a class="brand" href="#/">
          Whetstone
        </a>
        <nav ref={nav} aria-label="Pages">
          {ROUTES.filter(({ nav }) => nav).map((route) => (
            <a key={route.path} href={`#${route.path}`} aria-current={route.path === path ? 'page' : undefined}>
              {route.title}
            </a>
          ))}
        </nav>
        <div class="side-foot">
          <a href={help ? hrefTo(DOCUMENTATION_PAGE, { page: help }) : hrefTo(DOCUMENTATION_PATH)}>Help</a>
          <a href="docs">API</a>
          <button class="link" type="button" onClick={forgetKey}>
            Forget key
          </button>
        </div>
      </header>
      {children}
      <Alerts />
      <p class="sr-only" aria-live="polite">
        {title}
      </p>
    </div>
  );
}

/** The address names a page, so a jump within the page must not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
