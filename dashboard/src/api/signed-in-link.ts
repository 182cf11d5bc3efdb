// The link that `whetstone serve` prints, `/#key=wk-…`: takes the key into this tab and out of the address, so that it stays in no
// history. The part after `#` is never sent to a server.
import { setKey } from './key.ts';

export function takeKeyFromAddress(): void {
  const key = /^#key=(.+)$/.exec(location.hash)?.[1];
  if (key === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  setKey(decodeURIComponent(key));
}
