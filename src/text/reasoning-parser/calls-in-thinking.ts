// Calls with which the reasoning ends, where no answer follows: the model forgot to close its reasoning, so they are the answer. Where text
// follows, in the reasoning or after it, the reasoning only mentions them. vLLM's parsers end the reasoning at each marker of a call instead.
import { beginningAtEnd } from '../beginning-at-end.ts';
import type { ToolParser } from '../tool-parser/tool-delta.ts';
import type { ReasonedText, ReasoningParser } from './reasoned-text.ts';

export interface CallsToFind {
  /** What calls begin with. */
  readonly opens: readonly string[];
  readonly newParser: () => ToolParser;
}

/** Each is read to its end. A reasoning with more of them mentions them. */
const MENTIONS_MAX = 50;

export function createCallsInThinking(inner: ReasoningParser, { opens, newParser }: CallsToFind): ReasoningParser {
  let held = ''; // reasoning that may turn out to be calls, from the white space before them on
  let parser: ToolParser | null = null; // has read what is held
  let callCount = 0; // there
  let gap = ''; // white space after the reasoning, while the calls may be the answer
  let mentions = 0;
  let isPlain = opens.length === 0; // nothing can turn out to be calls any more

  /** Returns what certainly is reasoning. */
  function hold(text: string): string {
    let unread = text;
    let reasoning = '';
    held += text;
    for (;;) {
      if (parser === null) {
        const found = opens.map((each) => held.indexOf(each)).filter((at) => at >= 0);
        const at = found.length > 0 ? Math.min(...found) : held.length - beginningAtEnd(held, opens);
        const from = held.slice(0, at).trimEnd().length;
        reasoning += held.slice(0, from);
        unread = held.slice(at);
        held = held.slice(from);
        if (found.length === 0) return reasoning;
        parser = newParser();
        callCount = 0;
      }
      if (readsCalls(parser.push(unread))) return reasoning;
      const marker = held.length - held.trimStart().length + 1;
      reasoning += held.slice(0, marker);
      held = held.slice(marker);
      parser = null;
      if (++mentions < MENTIONS_MAX) continue;
      isPlain = true;
      return reasoning + release();
    }
  }

  /** False: there is text that belongs to no call. */
  function readsCalls(deltas: ReturnType<ToolParser['push']>): boolean {
    callCount += deltas.filter(({ kind }) => kind === 'call').length;
    return !deltas.some((delta) => delta.kind === 'content' && delta.text.trim() !== '');
  }

  function release(): string {
    const text = held;
    held = '';
    parser = null;
    return text;
  }

  function read({ reasoning, content }: ReasonedText): ReasonedText {
    if (isPlain) return { reasoning, content };
    const certain = reasoning === '' ? '' : hold(reasoning);
    if (content === '') return { reasoning: certain, content: '' };
    if (parser !== null && content.trim() === '') {
      gap += content;
      return { reasoning: certain, content: '' };
    }
    isPlain = true;
    return { reasoning: certain + release(), content: gap + content };
  }

  return {
    push: (text) => read(inner.push(text)),
    flush(isStopped = false) {
      const { reasoning, content } = read(inner.flush(isStopped));
      if (isPlain) return { reasoning, content };
      isPlain = true;
      const areCalls = isStopped && parser !== null && readsCalls(parser.flush(true)) && callCount > 0;
      const text = release();
      return areCalls
        ? { reasoning, content: content + text.trimStart() }
        : { reasoning: reasoning + text, content: content + gap };
    },
    get thinking() {
      return inner.thinking;
    },
  };
}
