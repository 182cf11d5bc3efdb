// Reasoning between two tags at the beginning of an answer: `<think>…</think>`, `[THINK]…[/THINK]`, or sentences that serve as tags.
// Line breaks right inside the tags, and right after the last one, are layout and belong to neither part; so is an end tag without anything
// before it, and its repetition.
import { beginningAtEnd } from '../beginning-at-end.ts';
import type { ReasonedText, ReasoningParser, ThinkingState } from './reasoned-text.ts';

/** Spellings of each tag; none is a prefix of another. */
export interface ThinkingTags {
  readonly starts: readonly string[];
  readonly ends: readonly string[];
  /** Trimmed from both ends of the parts, in addition to the tags. */
  readonly layout: 'breaks' | 'blanks';
}

export function createTaggedThinking({ starts, ends, layout }: ThinkingTags, state: ThinkingState): ReasoningParser {
  let part: 'before' | 'thinking' | 'content' = 'before';
  let pending = '';
  let atBeginning = true; // of the part: layout is dropped
  const [leading, trailing] = layout === 'breaks' ? [/^\n+/, /\n*$/] : [/^\s+/, /\s*$/];

  function dropLayout(): void {
    if (!atBeginning) return;
    pending = pending.replace(leading, '');
    atBeginning = pending === '';
  }

  /** Before the answer. Returns whether it may go on in text that has not arrived. */
  function dropEnds(over: boolean): boolean {
    while (atBeginning) {
      const text = pending.trimStart();
      const end = ends.find((each) => text.startsWith(each));
      if (end === undefined) {
        if (!over && ends.some((each) => each.startsWith(text))) return true;
        dropLayout();
        return false;
      }
      pending = text.slice(end.length);
    }
    return false;
  }

  /** `over`: nothing follows. */
  function read(over: boolean): ReasonedText {
    let reasoning = '';
    if (part === 'before') {
      const text = pending.trimStart();
      const start = starts.find((each) => text.startsWith(each));
      if (start !== undefined) {
        part = 'thinking';
        pending = text.slice(start.length);
      } else if (ends.some((each) => text.startsWith(each))) {
        part = 'thinking';
        pending = text;
      } else if (!over && [...starts, ...ends].some((each) => each.startsWith(text))) return NOTHING;
      else part = state === 'open' ? 'thinking' : 'content';
      atBeginning = part === 'thinking' || state === 'closed';
    }
    if (part === 'thinking') {
      dropLayout();
      const end = firstOf(ends, pending);
      const ended = end ? pending.slice(0, end.at) : pending;
      const kept = end || over ? 0 : heldBack(pending);
      reasoning = ended.slice(0, ended.length - kept);
      if (end || over) reasoning = reasoning.replace(trailing, '');
      pending = end ? pending.slice(end.at + end.tag.length) : pending.slice(pending.length - kept);
      if (!end) return { reasoning, content: '' };
      part = 'content';
      atBeginning = true;
    }
    if (dropEnds(over)) return { reasoning, content: '' };
    const content = pending;
    pending = '';
    return { reasoning, content };
  }

  /** Characters at the end that may turn out to be layout before the end tag, or the tag itself. */
  function heldBack(text: string): number {
    const tag = beginningAtEnd(text, ends);
    return tag + trailing.exec(text.slice(0, text.length - tag))![0].length;
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

const NOTHING: ReasonedText = { reasoning: '', content: '' };

function firstOf(tags: readonly string[], text: string): { tag: string; at: number } | null {
  const found = tags.map((tag) => ({ tag, at: text.indexOf(tag) })).filter(({ at }) => at >= 0);
  return found.length === 0 ? null : found.reduce((first, each) => (each.at < first.at ? each : first));
}
