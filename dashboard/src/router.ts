// Decides which page the address names. The address is the part after `#`, so that the server has one page and any prefix works:
// `#/jobs/{id}?group=3`. Knows patterns, not pages: those are in routes.tsx.
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What a page receives from its address. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** `/models/{id}` matched with `/models/abc`: `{ id: 'abc' }`; null if the path does not match. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined && part !== given[at]) return null;
    if (name !== undefined) params[name] = decode(given[at]!);
  }
  return params;
}

/** Returns an href: `hrefTo('/jobs/{id}', { id })`. Parameters that the pattern lacks become its query. */
export function hrefTo(pattern: string, params: Readonly<Record<string, string | number>> = {}): string {
  const query = new URLSearchParams();
  let path = pattern;
  for (const [name, value] of Object.entries(params)) {
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, String(value));
  }
  return `#${path}${query.size === 0 ? '' : `?${query}`}`;
}

export function goTo(href: string): void {
  location.hash = href;
}

type Choices = Readonly<Record<string, string | number | null>>;

/** Returns a function that changes some of what the page's address says; null and '' remove it. `choices`: all that it says now. */
export const chooser =
  (pattern: string, choices: Choices) =>
  (changed: Choices): void => {
    const next = Object.entries({ ...choices, ...changed });
    const kept = next.filter((entry): entry is [string, string | number] => entry[1] !== null && entry[1] !== '');
    replacePlace(hrefTo(pattern, Object.fromEntries(kept)));
  };

/** Changes some of what the current address says and keeps the rest; null, '' and [] remove it. A list is said once for each of its texts. */
export function changeQuery(changed: Readonly<Record<string, string | number | readonly string[] | null>>): void {
  const [path = '', query] = location.hash.split('?', 2);
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changed)) {
    next.delete(name);
    const texts: readonly string[] =
      value === null || value === '' ? [] : typeof value === 'object' ? value : [String(value)];
    for (const each of texts) next.append(name, each);
  }
  const href = `${path === '' ? '#/' : path}${next.size === 0 ? '' : `?${next}`}`;
  if (href !== location.hash) replacePlace(href);
}

/** Replaces the query of the current page without an entry in the history. */
export function replacePlace(href: string): void {
  history.replaceState(null, '', href);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return placeOf(hash);
}

function placeOf(hash: string): Place {
  const [path = '', query] = hash.replace(/^#/, '').split('?', 2);
  return { path: path === '' ? '/' : path.replace(/(?<=.)\/$/, ''), query: new URLSearchParams(query) };
}

/** A `%` that a user typed and that starts no escape stays a `%`. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
