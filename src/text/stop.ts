// Finds stop strings in text that arrives in pieces, and holds back only what could be the beginning of one: never more than the longest
// stop string minus one character. If one piece completes several, the one that is complete first in the text wins, and of those that end
// together the first in list order, as in vLLM 0.32: the answer is the same in whatever pieces the text arrives.
import { beginningAtEnd } from './beginning-at-end.ts';

export interface StopMatch {
  /** Safe to send. After a match: the text up to it, with the stop string if `include`. */
  text: string;
  /** The stop string that ends the text; nothing may be pushed afterwards. */
  matched: string | null;
}

export interface StopMatcher {
  push(text: string): StopMatch;
  /** The same for text in which none may end: one may begin in it. */
  pass(text: string): string;
  /** The generation ended for another reason: returns what was held back. */
  flush(): string;
}

/** `stops` are not empty strings. */
export function createStopMatcher(stops: readonly string[], { include }: { include: boolean }): StopMatcher {
  let pending = '';

  /** Holds back what could be the beginning of one. */
  function pass(text: string): string {
    const window = pending + text;
    const kept = beginningAtEnd(window, stops);
    pending = window.slice(window.length - kept);
    return window.slice(0, window.length - kept);
  }

  return {
    push(text) {
      const window = pending + text;
      const first = firstToEnd(window, pending.length, stops);
      if (first === null) return { text: pass(text), matched: null };
      pending = '';
      return { text: window.slice(0, include ? first.end : first.end - first.stop.length), matched: first.stop };
    },
    pass,
    flush() {
      const rest = pending;
      pending = '';
      return rest;
    },
  };
}

/** Of those that end after the first `passed` characters. */
function firstToEnd(text: string, passed: number, stops: readonly string[]) {
  let first: { readonly stop: string; readonly end: number } | null = null;
  for (const stop of stops) {
    const at = text.indexOf(stop, passed + 1 - stop.length); // a negative position is the beginning
    if (at >= 0 && (first === null || at + stop.length < first.end)) first = { stop, end: at + stop.length };
  }
  return first;
}
