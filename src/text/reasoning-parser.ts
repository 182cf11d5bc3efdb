// Thinking and answer, told apart by the tags that a model's chat template teaches (`<think>…</think>`). One rule for streams
// and whole answers: the prompt's end says whether thinking is open; unfinished thinking is thinking.

export interface ReasoningSyntax {
  readonly start: string;
  readonly end: string;
}

/** Null: the template knows no thinking. */
export function findReasoningSyntax(templateSource: string): ReasoningSyntax | null {
  return templateSource.includes('</think>') ? { start: '<think>', end: '</think>' } : null;
}

/** How a prompt leaves it: thinking has begun, is over, or the model may begin it. */
export type ThinkingState = 'open' | 'closed' | 'unsaid';

/** `prompt`: rendered, up to where the model goes on. Only what stands at its very end speaks for the next turn. */
export function thinkingInPrompt(prompt: string, { start, end }: ReasoningSyntax): ThinkingState {
  const tail = prompt.trimEnd();
  if (tail.endsWith(start)) return 'open';
  return tail.endsWith(end) ? 'closed' : 'unsaid';
}

export interface ReasoningParser {
  push(text: string): ReasonedText;
  /** The generation is over: what was held back. */
  flush(): ReasonedText;
  /** What comes next belongs to the thinking, as far as is known. */
  readonly thinking: boolean;
}

export interface ReasonedText {
  readonly reasoning: string;
  readonly content: string;
}

/** Line breaks right inside the tags, and right after the last one, are layout: they belong to neither part. */
export function createReasoningParser({ start, end }: ReasoningSyntax, state: ThinkingState): ReasoningParser {
  let part: 'before' | 'thinking' | 'content' = state === 'closed' ? 'content' : 'before';
  let pending = '';
  let atBeginning = true; // of the part: layout is dropped

  function dropLayout(): void {
    if (!atBeginning) return;
    pending = pending.replace(/^\n+/, '');
    atBeginning = pending === '';
  }

  /** `over`: nothing follows. */
  function read(over: boolean): ReasonedText {
    let reasoning = '';
    if (part === 'before') {
      const text = pending.trimStart();
      if (text.startsWith(start)) {
        part = 'thinking';
        pending = text.slice(start.length);
      } else if (!over && start.startsWith(text)) return { reasoning: '', content: '' };
      else part = state === 'open' ? 'thinking' : 'content';
      atBeginning = part === 'thinking';
    }
    if (part === 'thinking') {
      dropLayout();
      const at = pending.indexOf(end);
      const ended = at >= 0 ? pending.slice(0, at) : pending;
      const kept = at >= 0 || over ? 0 : heldBack(pending, end);
      reasoning = ended.slice(0, ended.length - kept);
      if (at >= 0 || over) reasoning = reasoning.replace(/\n+$/, '');
      pending = at >= 0 ? pending.slice(at + end.length) : pending.slice(pending.length - kept);
      if (at < 0) return { reasoning, content: '' };
      part = 'content';
      atBeginning = true;
    }
    dropLayout();
    const content = pending;
    pending = '';
    return { reasoning, content };
  }

  return {
    push(text) {
      pending += text;
      return read(false);
    },
    flush: () => read(true),
    get thinking() {
      return part === 'thinking' || (part === 'before' && state === 'open');
    },
  };
}

/** Characters that may yet turn out to be layout before the end tag, or the tag itself. */
function heldBack(text: string, end: string): number {
  for (let length = Math.min(end.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(end.slice(0, length))) return length + trailingBreaks(text.slice(0, -length));
  }
  return trailingBreaks(text);
}

const trailingBreaks = (text: string): number => /\n*$/.exec(text)![0].length;
