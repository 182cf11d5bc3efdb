// `<tool_call>\n{"name": "f", "arguments": {…}}\n</tool_call>`, any number of them, text around them. White space that only
// separates the blocks is dropped.
import type { ToolDelta, ToolParser } from '../tool-parser.ts';
import { createCallList } from './call-list.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

export function createHermesParser(): ToolParser {
  const calls = createCallList();
  let place: 'text' | 'call' | 'closing' = 'text';
  let pending = '';

  /** Null: nothing more to be done with what there is. */
  function step(over: boolean): ToolDelta[] | null {
    if (place === 'text') return readText(over);
    if (place === 'closing') return skipToClose();
    if (pending === '') return null;
    const { deltas, rest, state } = calls.read(pending);
    pending = rest;
    if (state === 'done') place = 'closing';
    if (state === 'broken') place = deltas.some(({ kind }) => kind === 'content') ? 'text' : 'closing';
    return deltas;
  }

  function readText(over: boolean): ToolDelta[] | null {
    const at = pending.indexOf(OPEN);
    if (at >= 0) {
      const before = content(pending.slice(0, at).trimEnd());
      const opening = pending.slice(pending.slice(0, at).trimEnd().length, at) + OPEN;
      pending = pending.slice(at + OPEN.length);
      calls.begin(opening);
      place = 'call';
      return before;
    }
    const kept = over ? 0 : heldBack(pending);
    let text = pending.slice(0, pending.length - kept);
    pending = pending.slice(pending.length - kept);
    if (over && calls.count > 0 && text.trim() === '') text = '';
    return text === '' ? null : content(text);
  }

  function skipToClose(): ToolDelta[] | null {
    const at = pending.indexOf(CLOSE);
    if (at < 0) return null;
    pending = pending.slice(at + CLOSE.length);
    place = 'text';
    return [];
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

const content = (text: string): ToolDelta[] => (text === '' ? [] : [{ kind: 'content', text }]);

/** White space and the beginning of a tag at the end of the text. */
function heldBack(text: string): number {
  let tag = 0;
  for (let length = Math.min(OPEN.length - 1, text.length); length > 0 && tag === 0; length--) {
    if (text.endsWith(OPEN.slice(0, length))) tag = length;
  }
  const before = text.slice(0, text.length - tag);
  return tag + before.length - before.trimEnd().length;
}
