// Where the reader was in a page: kept with its entry of the browser's history, so that Back and Forward return there. The browser would do
// so itself if the page were there at once; its rows arrive later.

/** How long rows may take to arrive. After that, or once the reader scrolls, the place is given up. */
const WAIT_MS = 10_000;
/** Browsers limit how often an entry may change. */
const KEEP_AFTER_MS = 150;

const keptPlace = (): number => {
  const { place } = (history.state ?? {}) as { readonly place?: unknown };
  return typeof place === 'number' ? place : 0;
};

/** For a page that has just appeared: at its beginning if it is new, else where it was left. Returns what ends the keeping. */
export function keepPlace(page: HTMLElement): () => void {
  const place = keptPlace();
  scrollTo(0, 0);
  let later: ReturnType<typeof setTimeout> | undefined;
  const keep = () => {
    clearTimeout(later);
    const { hash } = location;
    later = setTimeout(() => {
      if (location.hash === hash) history.replaceState({ ...(history.state as object), place: scrollY }, '');
    }, KEEP_AFTER_MS);
  };
  const grown = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight < place + innerHeight) return;
    giveUp();
    scrollTo(0, place);
  });
  const events = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;
  const giveUp = () => {
    clearTimeout(waiting);
    grown.disconnect();
    for (const event of events) removeEventListener(event, giveUp);
    addEventListener('scroll', keep, { passive: true });
  };
  const waiting = setTimeout(giveUp, place === 0 ? 0 : WAIT_MS);
  for (const event of events) addEventListener(event, giveUp, { passive: true });
  if (place > 0) grown.observe(page);
  return () => {
    giveUp();
    clearTimeout(later);
    removeEventListener('scroll', keep);
  };
}
