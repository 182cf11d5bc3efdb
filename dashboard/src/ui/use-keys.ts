// Keys that do something on a page, unless the user is writing.
import { useLayoutEffect, useRef } from 'preact/hooks';

export type Keys = Readonly<Record<string, (() => void) | undefined>>;

export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  // A layout effect, so that a key pressed right after the page appears already applies to that page.
  useLayoutEffect(() => {
    const follow = ({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent) => {
      const isWriting = target instanceof HTMLElement && target.closest('input:not([type=radio]), textarea, select');
      if (!isWriting && !altKey && !ctrlKey && !metaKey && Object.hasOwn(latest.current, key)) latest.current[key]?.();
    };
    addEventListener('keydown', follow);
    return () => removeEventListener('keydown', follow);
  }, []);
}
