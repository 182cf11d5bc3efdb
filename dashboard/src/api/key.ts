// The API key: entered once. It lies in the tab's session storage and, if the user wishes, in the device's local storage; open tabs hand it to
// new ones. It is sent in one header (client.ts) and not in a cookie, so that no other site can use it.
import { useEffect, useState } from 'preact/hooks';

const NAME = 'whetstone.key';
const CHANGED = 'whetstone-key';

/** To and from other tabs of this server. */
type Message = { readonly asks: true } | { readonly key: string } | { readonly forgets: string };
const tabs = new BroadcastChannel(CHANGED);
const tell = (message: Message): void => tabs.postMessage(message);

export const readKey = (): string | null => sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);

/** In all tabs that have none. */
export function setKey(key: string, { onDevice = false } = {}): void {
  (onDevice ? localStorage : sessionStorage).setItem(NAME, key);
  tell({ key });
  dispatchEvent(new Event(CHANGED));
}

/** In all tabs that have this one, and on the device: they ask for another. */
export function forgetKey(): void {
  const key = readKey();
  if (key === null) return;
  drop(key);
  tell({ forgets: key });
}

function drop(key: string): void {
  for (const storage of [sessionStorage, localStorage]) if (storage.getItem(NAME) === key) storage.removeItem(NAME);
  dispatchEvent(new Event(CHANGED));
}

/** Once per page: shares the key with other tabs from now on. */
export function shareKey(): void {
  tabs.onmessage = ({ data }: MessageEvent<Message>) => {
    const key = readKey();
    if ('forgets' in data) drop(data.forgets);
    else if ('asks' in data && key !== null) tell({ key });
    else if ('key' in data && key === null) {
      sessionStorage.setItem(NAME, data.key);
      dispatchEvent(new Event(CHANGED));
    }
  };
  if (readKey() === null) tell({ asks: true });
}

export function useKey(): string | null {
  const [key, follow] = useState(readKey);
  useEffect(() => {
    const read = () => follow(readKey());
    addEventListener(CHANGED, read);
    read(); // another tab may have answered meanwhile
    return () => removeEventListener(CHANGED, read);
  }, []);
  return key;
}
