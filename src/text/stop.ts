// Finds stop strings in text that arrives in pieces, and holds back only what could be the beginning of one: never more than the longest
// stop string minus one character. If one piece completes several, the first in list order wins, not the earliest in the text, as in
// vLLM.
import { beginningAtEnd } from './beginning-at-end.ts';

export interface StopMatch {
  /** Safe to send. After a match: the text up to it, with the stop string if `include`. */
  text: string;
  /** The stop string that ends the text; nothing may be pushed afterwards. */
  matched: string | null;
}

export interface StopMatcher {
  push(text: string): StopMatch;
  /** The generation ended for another reason: returns what was held back. */
  flush(): string;
}

/** `stops` are not empty strings. */
export function createStopMatcher(stops: readonly string[], { include }: { include: boolean }): StopMatcher {
  let pending = '';

  return {
    push(text) {
      const window = pending + text;
      for (const stop of stops) {
        const at = window.indexOf(stop);
        if (at < 0) continue;
        pending = '';
        return { text: window.slice(0, include ? at + stop.length : at), matched: stop };
      }
      const kept = beginningAtEnd(window, stops);
      pending = window.slice(window.length - kept);
      return { text: window.slice(0, window.length - kept), matched: null };
    },
    flush() {
      const rest = pending;
      pending = '';
      return rest;
    },
  };
}
