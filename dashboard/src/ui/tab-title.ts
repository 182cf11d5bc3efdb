// The title of the browser's tab: what the page shows, then what that belongs to, innermost first, so that tabs, bookmarks and the history
// can be told apart.
import { useEffect, useRef } from 'preact/hooks';

/** For the element that has the page's `h1` and its crumbs. Knows no names: it reads what is drawn. */
export function useTabTitle<T extends HTMLElement>() {
  const head = useRef<T>(null);
  useEffect(() => {
    const [title, ...crumbs] = ['h1', '.crumbs > *'].flatMap((each) => [...head.current!.querySelectorAll(each)]);
    if (title)
      document.title = [title, ...crumbs.reverse()].map((part) => part.textContent).join(' · ') + ' · Whetstone';
  });
  return head;
}
