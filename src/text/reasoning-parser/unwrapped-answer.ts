// An answer between its own tags after the reasoning: Granite 3.3's `<response>…</response>`. Removes the tags; reasoning passes
// through.
import { beginningAtEnd } from '../beginning-at-end.ts';
import type { ReasoningParser } from './reasoned-text.ts';

export interface AnswerTags {
  readonly begin: string;
  readonly end: string;
}

export function createUnwrappedAnswer(inner: ReasoningParser, { begin, end }: AnswerTags): ReasoningParser {
  let place: 'before' | 'inside' | 'plain' = 'before';
  let pending = '';

  function unwrap(text: string, over: boolean): string {
    pending += text;
    if (place === 'before') {
      const rest = pending.trimStart();
      if (!over && begin.startsWith(rest)) return '';
      place = rest.startsWith(begin) ? 'inside' : 'plain';
      if (place === 'inside') pending = rest.slice(begin.length);
    }
    const at = place === 'inside' ? pending.indexOf(end) : -1;
    if (at >= 0) {
      pending = pending.slice(0, at) + pending.slice(at + end.length);
      place = 'plain';
    }
    const kept = over || place === 'plain' ? 0 : beginningAtEnd(pending, [end]);
    const content = pending.slice(0, pending.length - kept);
    pending = pending.slice(pending.length - kept);
    return content;
  }

  return {
    push(text) {
      const { reasoning, content } = inner.push(text);
      return { reasoning, content: unwrap(content, false) };
    },
    flush(isStopped) {
      const { reasoning, content } = inner.flush(isStopped);
      return { reasoning, content: unwrap(content, true) };
    },
    get thinking() {
      return inner.thinking;
    },
  };
}
