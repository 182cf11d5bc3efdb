// Calls that make up the whole answer: Llama 3's `{"name": …}; {…}`, Pythonic `[f(a=1), g()]`. They start where the answer starts, after a
// tag or not; once anything else follows, the rest is content.
import type { CallReader } from './call-reader.ts';
import { createCallList } from './call-list.ts';
import { readSteps } from './read-steps.ts';
import type { ToolDelta, ToolParser } from './tool-delta.ts';

export interface WholeAnswer {
  /** May precede the calls, and separate lists of them. */
  readonly opens: readonly string[];
  /** May follow them. */
  readonly closes: readonly string[];
  /** What calls begin with; it is read as part of the first one if they are not a list. */
  readonly begin: '{' | '[';
  /** White space and separators between calls. */
  readonly between: RegExp;
  /** `isTagged`: a tag precedes it. */
  readonly newReader: (isTagged: boolean) => CallReader;
}

/** `isCertain`: as in call-list.ts. */
export function createWholeAnswerParser(
  { opens, closes, begin, between, newReader }: WholeAnswer,
  isCertain?: boolean,
): ToolParser {
  const calls = createCallList(isCertain);
  const isList = begin === '[';
  let place: 'outside' | 'inside' | 'call' | 'content' = 'outside';
  let pending = '';

  function step(over: boolean): ToolDelta[] | null {
    if (pending === '') return null;
    switch (place) {
      case 'outside':
        return readOutside(over);
      case 'inside':
        return readInside(over);
      case 'call':
        return readCall();
      case 'content':
        return [{ kind: 'content', text: take() }];
    }
  }

  /** Before the first call, and after each that is not an item of a list. */
  function readOutside(over: boolean): ToolDelta[] | null {
    const isFirst = calls.count === 0;
    const text = isFirst ? pending.trimStart() : pending.replace(isList ? /^\s+/ : between, '');
    const layout = pending.slice(0, pending.length - text.length);
    const close = isFirst ? undefined : closes.find((each) => text.startsWith(each));
    if (close !== undefined) {
      pending = text.slice(close.length);
      return [];
    }
    const tag = opens.find((each) => text.startsWith(each)) ?? '';
    const rest = text.slice(tag.length);
    const from = isList ? rest.trimStart() : rest;
    const opening = layout + tag + rest.slice(0, rest.length - from.length);
    if (isList ? from.startsWith(begin) : tag !== '' || from.startsWith(begin)) {
      const bracket = isList ? begin : '';
      return beginCall(opening + bracket, from.slice(bracket.length), tag !== '');
    }
    const mayBegin = from === '' || [...opens, ...(isFirst ? [] : closes)].some((each) => each.startsWith(text));
    if (!over && mayBegin) return null;
    if (text === '' && !isFirst) pending = '';
    place = 'content';
    return [];
  }

  /** After a call of a list. */
  function readInside(over: boolean): ToolDelta[] | null {
    const [, layout, comma, rest] = /^(\s*)(,?)([^]*)$/.exec(pending)!;
    const next = rest!.trimStart();
    if (next === '' && !over) return null;
    if (next.startsWith(']')) {
      place = 'outside'; // a comma before the bracket is Python, too
      pending = next.slice(1);
      return calls.complete();
    }
    if (comma !== '') return beginCall(`${layout},`, rest!, true);
    if (next === '') return null;
    place = 'content';
    return calls.giveBack('');
  }

  function beginCall(opening: string, rest: string, isTagged: boolean): ToolDelta[] {
    calls.begin(opening, newReader(isTagged));
    pending = rest;
    place = 'call';
    return [];
  }

  function readCall(): ToolDelta[] | null {
    const { deltas, rest, state } = calls.read(pending);
    const waits = state === 'reading' && rest.length === pending.length && deltas.length === 0;
    pending = rest;
    if (state === 'done') {
      place = isList ? 'inside' : 'outside';
      if (!isList) deltas.push(...calls.complete());
    }
    if (state === 'broken') place = 'content';
    return waits ? null : deltas;
  }

  function take(): string {
    const text = pending;
    pending = '';
    return text;
  }

  return readSteps({
    add: (text) => void (pending += text),
    step,
    end: (isStopped) => (place === 'call' ? calls.abandon(pending, isStopped) : calls.complete()),
  });
}
