// Llama 3's JSON calls: the answer as a whole is `{"name": "f", "parameters": {…}}`, behind `<|python_tag|>` or not, and
// several are separated by `;`, `,` or white space. An answer that begins otherwise has no calls.
import type { ToolDelta, ToolParser } from '../tool-parser.ts';
import { createCallList } from './call-list.ts';

const TAG = '<|python_tag|>';

export function createLlama3Parser(): ToolParser {
  const calls = createCallList();
  let place: 'start' | 'call' | 'between' | 'content' = 'start';
  let pending = '';

  function step(over: boolean): ToolDelta[] | null {
    if (pending === '') return null;
    if (place === 'start') return readStart(over);
    if (place === 'between') return readBetween(over);
    if (place === 'content') return [{ kind: 'content', text: take() }];
    const { deltas, rest, state } = calls.read(pending);
    pending = rest;
    if (state === 'done') place = 'between';
    if (state === 'broken') place = 'content';
    return deltas;
  }

  function readStart(over: boolean): ToolDelta[] | null {
    const text = pending.trimStart();
    const layout = pending.slice(0, pending.length - text.length);
    if (text.startsWith(TAG)) return beginCall(layout + TAG, text.slice(TAG.length));
    if (text.startsWith('{')) return beginCall(layout, text);
    if (!over && TAG.startsWith(text)) return null;
    place = 'content';
    return [];
  }

  function readBetween(over: boolean): ToolDelta[] | null {
    const text = pending.replace(/^[\s;,]+/, '');
    if (text.startsWith('{')) return beginCall(pending.slice(0, pending.length - text.length), text);
    if (text === '') {
      if (over) pending = '';
      return null;
    }
    place = 'content';
    return [];
  }

  function beginCall(opening: string, rest: string): ToolDelta[] {
    calls.begin(opening);
    pending = rest;
    place = 'call';
    return [];
  }

  function take(): string {
    const text = pending;
    pending = '';
    return text;
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
