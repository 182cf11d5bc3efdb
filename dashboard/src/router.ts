// Decides which page the address names. The address is the part after `#`, so that the server has one page and any prefix works:
// `#/jobs/{id}?group=3`. Knows patterns, not pages: those are in routes.tsx.
import { useEffect, useState } from 'preact/hooks';

export interface Address {
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

type Changed = Readonly<Record<string, string | number | readonly string[] | null>>;

/** Changes of the same thing that follow each other this fast are one choice: a slider that is drawn. */
const SAME_CHOICE_MS = 300;
let latest = { names: '', atMs: -Infinity };

/**
 * A choice of the user: changes some of what the current address says and keeps the rest; null, '' and [] remove it. A list is said once for
 * each of its texts. Back undoes it.
 */
export function changeQuery(changed: Changed): void {
  const [names, atMs] = [Object.keys(changed).sort().join(' '), performance.now()];
  const isSame = names === latest.names && atMs - latest.atMs < SAME_CHOICE_MS;
  latest = { names, atMs };
  setQuery(changed, isSame ? 'replaceState' : 'pushState');
}

/** Filters of a list that has pages: another list begins at its first page. */
export const chooseAmong = (changed: Changed): void => changeQuery({ after: null, before: null, ...changed });

/** The same without an entry in the history: for what follows a pointer or a key. */
export const replaceQuery = (changed: Changed): void => setQuery(changed, 'replaceState');

function setQuery(changed: Changed, how: 'pushState' | 'replaceState'): void {
  const [path = '', query] = location.hash.split('?', 2);
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changed)) {
    next.delete(name);
    const texts: readonly string[] =
      value === null || value === '' ? [] : typeof value === 'object' ? value : [String(value)];
    for (const each of texts) next.append(name, each);
  }
  const href = `${path === '' ? '#/' : path}${next.size === 0 ? '' : `?${next}`}`;
  if (href === location.hash) return;
  history[how](how === 'replaceState' ? history.state : null, '', href);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useAddress(): Address {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return addressOf(hash);
}

function addressOf(hash: string): Address {
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
