// `<tool_call>\n{"name": "f", "arguments": {…}}\n</tool_call>`, any number of them, text around them. White space before a tag,
// or with nothing else between and after the blocks, is dropped. A closing tag may be missing: nothing waits for it.
import type { ToolDelta, ToolParser } from '../tool-parser.ts';
import { createCallList } from './call-list.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

export function createHermesParser(): ToolParser {
  const calls = createCallList();
  let place: 'text' | 'call' = 'text';
  let closing = false; // the last block was a call, and its closing tag has not come yet
  let onlySpace = false; // since the last call
  let pending = '';

  /** Null: nothing more to be done with what there is. */
  function step(over: boolean): ToolDelta[] | null {
    if (place === 'text') return readText(over);
    if (pending === '') return null;
    const before = calls.count;
    const { deltas, rest, state } = calls.read(pending);
    pending = rest;
    if (calls.count > before) closing = onlySpace = true;
    if (state !== 'reading') place = 'text';
    return deltas;
  }

  function readText(over: boolean): ToolDelta[] | null {
    const tags = closing ? [OPEN, CLOSE] : [OPEN];
    const { tag, at } = firstOf(tags, pending);
    if (tag !== null) {
      const text = pending.slice(0, at).trimEnd();
      if (tag === OPEN) beginCall(pending.slice(text.length, at) + OPEN);
      else closing = false;
      pending = pending.slice(at + tag.length);
      return content(text);
    }
    const kept = over ? 0 : heldBack(pending, tags);
    const text = pending.slice(0, pending.length - kept);
    pending = pending.slice(pending.length - kept);
    if (text === '' || (over && isLayout(text))) return null;
    return content(text);
  }

  function beginCall(opening: string): void {
    calls.begin(opening, { needsArguments: false });
    place = 'call';
    closing = false;
  }

  /** At the end of the answer: nothing that was meant to be read. */
  const isLayout = (text: string): boolean => {
    const rest = text.trimStart();
    return rest === '' ? onlySpace : closing && CLOSE.startsWith(rest);
  };

  function content(text: string): ToolDelta[] {
    if (text === '') return [];
    onlySpace = false;
    return [{ kind: 'content', text }];
  }

  function readAll(over: boolean): ToolDelta[] {
    const deltas: ToolDelta[] = [];
    for (let more = step(over); more !== null; more = step(over)) deltas.push(...more);
    return deltas;
  }

  return {
    push(text) {
      pending += text;
      return readAll(false);
    },
    flush: () => [...readAll(true), ...(place === 'call' ? calls.abandon() : [])],
  };
}

/** The tag that comes first in the text. */
function firstOf(tags: readonly string[], text: string): { tag: string | null; at: number } {
  let first: { tag: string | null; at: number } = { tag: null, at: text.length };
  for (const tag of tags) {
    const at = text.indexOf(tag);
    if (at >= 0 && at < first.at) first = { tag, at };
  }
  return first;
}

/** White space and the beginning of a tag at the end of the text. */
function heldBack(text: string, tags: readonly string[]): number {
  const start = text.lastIndexOf('<'); // tags have no other
  const isTag = start >= 0 && tags.some((tag) => tag.startsWith(text.slice(start)));
  const before = isTag ? text.slice(0, start) : text;
  return text.length - before.trimEnd().length;
}
