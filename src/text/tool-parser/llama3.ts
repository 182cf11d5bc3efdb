// Llama 3's JSON calls: the answer as a whole is `{"name": "f", "parameters": {…}}`, behind `<|python_tag|>` or not, and
// several are separated by `;`, `,` or white space. Once anything else comes, all that follows is content.
import type { ToolDelta, ToolParser } from '../tool-parser.ts';
import { createCallList } from './call-list.ts';

const TAG = '<|python_tag|>';

export function createLlama3Parser(): ToolParser {
  const calls = createCallList();
  let place: 'outside' | 'call' | 'content' = 'outside';
  let pending = '';

  function step(over: boolean): ToolDelta[] | null {
    if (pending === '') return null;
    if (place === 'outside') return readOutside(over);
    if (place === 'content') return [{ kind: 'content', text: take() }];
    const { deltas, rest, state } = calls.read(pending);
    pending = rest;
    if (state === 'done') place = 'outside';
    if (state === 'broken') place = 'content';
    return deltas;
  }

  /** Before the first call, and after each. */
  function readOutside(over: boolean): ToolDelta[] | null {
    const text = calls.count === 0 ? pending.trimStart() : pending.replace(/^[\s;,]+/, '');
    const layout = pending.slice(0, pending.length - text.length);
    if (text.startsWith(TAG)) return beginCall(layout + TAG, text.slice(TAG.length), false);
    if (text.startsWith('{')) return beginCall(layout, text, true);
    if (!over && TAG.startsWith(text)) return null;
    if (text === '' && calls.count > 0) pending = '';
    place = 'content';
    return [];
  }

  /** Without the tag, an object that has a name only may well be an answer in JSON: `{"name": "Ada", "born": 1815}`. */
  function beginCall(opening: string, rest: string, needsArguments: boolean): ToolDelta[] {
    calls.begin(opening, { needsArguments });
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
