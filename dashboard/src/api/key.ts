// The API key: entered once, stored in this tab's session storage and nowhere else. It is sent in one header (client.ts) and not in a
// cookie, so that no other site can use it.
import { useEffect, useState } from 'preact/hooks';

const NAME = 'whetstone.key';
const CHANGED = 'whetstone-key';

export const readKey = (): string | null => sessionStorage.getItem(NAME);

/** Null: forget it, and ask again. */
export function setKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
  dispatchEvent(new Event(CHANGED));
}

export function useKey(): string | null {
  const [key, follow] = useState(readKey);
  useEffect(() => {
    const read = () => follow(readKey());
    addEventListener(CHANGED, read);
    return () => removeEventListener(CHANGED, read);
  }, []);
  return key;
}
