// Calls in blocks that tags open, any number of them, with text around them: one call in a block, or a list of them. White space before a
// tag, or alone between and after the blocks, is dropped. A closing tag may be missing: nothing waits for it. The syntax
// (tool-parser.ts) defines what tags and calls look like.
import { beginningAtEnd } from '../beginning-at-end.ts';
import type { CallReader } from './call-reader.ts';
import { createCallList } from './call-list.ts';
import { readSteps } from './read-steps.ts';
import type { ToolDelta, ToolParser } from './tool-delta.ts';

/** What surrounds and separates the calls of a block. */
export interface CallsInBlock {
  readonly begin: string;
  readonly between: RegExp;
  readonly end: string;
  /** Several may also occur without the brackets. */
  readonly bracketsOptional: boolean;
}

export interface Blocks {
  readonly opens: readonly string[];
  /** What opens a block only where the answer begins. */
  readonly opensAnswer?: readonly string[];
  readonly closes: readonly string[];
  /** What closes a block may also open other text; otherwise it may be repeated. */
  readonly closesOnce?: boolean;
  /** Null: a block is one call, read from right after the tag. */
  readonly list: CallsInBlock | null;
  /** A list may start the answer, without a tag. */
  readonly bareList?: boolean;
  /** `tag`: what opened the block; null: a list without one. `next`: the beginning of the call; empty if there is no list. */
  readonly newReader: (tag: string | null, next: string) => CallReader;
}

/** `isCertain`: as in call-list.ts. */
export function createTaggedParser(
  { opens, opensAnswer = [], closes, closesOnce = false, list, bareList = false, newReader }: Blocks,
  isCertain?: boolean,
): ToolParser {
  const calls = createCallList(isCertain);
  let place: 'beginning' | 'text' | 'opened' | 'call' | 'between' =
    bareList || opensAnswer.length > 0 ? 'beginning' : 'text';
  let tag: string | null = null; // of the block
  let opening = ''; // text that has introduced the call so far
  let listed = false;
  let continued = false; // a separator introduced the call
  let closing = false; // the last block was a call, and its closing tag may come, or come again
  let closed = false; // it has come
  let onlySpace = false; // since the last call
  let pending = '';

  function step(over: boolean): ToolDelta[] | null {
    switch (place) {
      case 'beginning':
        return readBeginning(over);
      case 'text':
        return readText(over);
      case 'opened':
        return readOpened();
      case 'call':
        return readCall();
      case 'between':
        return readBetween();
    }
  }

  function readBeginning(over: boolean): ToolDelta[] | null {
    const first = opensAnswer.find((each) => pending.startsWith(each));
    const text = pending.trimStart();
    if (!over && (text === '' || opensAnswer.some((each) => each.length > pending.length && each.startsWith(pending))))
      return null;
    place = 'text';
    if (first !== undefined) open(first, first, pending.slice(first.length));
    else if (bareList && text.startsWith(list!.begin)) open(null, pending.slice(0, pending.length - text.length), text);
    return [];
  }

  function readText(over: boolean): ToolDelta[] | null {
    const tags = closing ? [...opens, ...closes] : opens;
    const { found, at } = firstOf(tags, pending);
    if (found !== null) {
      const text = pending.slice(0, at).trimEnd();
      const rest = pending.slice(at + found.length);
      if (closed && text.trim() !== '' && closes.includes(found)) {
        closing = closed = false; // it belongs to the text
        return [];
      }
      if (!over && opens.some((tag) => tag.length > found.length && tag.startsWith(found + rest))) {
        pending = pending.slice(text.length); // a fence that closes may turn out to open
        return text === '' ? null : content(text);
      }
      if (opens.includes(found)) open(found, pending.slice(text.length, at) + found, rest);
      else {
        closed = !closesOnce;
        closing = closed;
        pending = rest;
      }
      return content(text);
    }
    const kept = over ? 0 : heldBack(pending, tags);
    const text = pending.slice(0, pending.length - kept);
    pending = pending.slice(pending.length - kept);
    if (text === '' || (over && isLayout(text))) return null;
    if (closed && text.trim() !== '') closing = closed = false;
    return content(text);
  }

  function open(by: string | null, led: string, rest: string): void {
    tag = by;
    opening = led;
    pending = rest;
    closing = closed = listed = continued = false;
    if (list === null) begin('');
    else place = 'opened';
  }

  function begin(next: string): void {
    calls.begin(opening, newReader(tag, next));
    place = 'call';
  }

  /** After the tag: a list begins, or the call itself. */
  function readOpened(): ToolDelta[] | null {
    const text = pending.trimStart();
    if (opens.some((each) => each.startsWith(text))) return null;
    if (!continued && opens.some((each) => text.startsWith(each))) {
      place = 'text';
      return content(opening);
    }
    const begins = !continued && text.startsWith(list!.begin);
    const read = pending.length - text.length + (begins ? list!.begin.length : 0);
    opening += pending.slice(0, read);
    pending = pending.slice(read);
    listed ||= begins;
    if (!begins) begin(text);
    return [];
  }

  function readCall(): ToolDelta[] | null {
    if (pending === '') return null;
    const before = calls.count;
    const { deltas, rest, state } = calls.read(pending);
    const waits = state === 'reading' && rest.length === pending.length && deltas.length === 0;
    pending = rest;
    if (calls.count > before) closing = onlySpace = true;
    if (state === 'broken') {
      place = 'text';
      closing = onlySpace = false;
      keepSpace(deltas);
    }
    if (state === 'done') {
      place = list === null ? 'text' : 'between';
      if (!listed) deltas.push(...calls.complete());
    }
    return waits ? null : deltas;
  }

  /** White space at the end of what was no call is read again, as a tag may follow it. */
  function keepSpace(deltas: ToolDelta[]): void {
    const last = deltas.at(-1);
    if (last?.kind !== 'content') return;
    const text = last.text.trimEnd();
    pending = last.text.slice(text.length) + pending;
    deltas.splice(-1, 1, ...(text === '' ? [] : [{ kind: 'content' as const, text }]));
  }

  /** After a call: another one of the list, or the list's end. */
  function readBetween(): ToolDelta[] | null {
    const text = pending.trimStart();
    if (text === '') return null;
    const separator = listed || list!.bracketsOptional ? list!.between.exec(text)?.[0] : undefined;
    if (separator !== undefined) {
      opening = pending.slice(0, pending.length - text.length) + separator;
      continued = true;
      pending = text.slice(separator.length);
      place = 'opened';
      return [];
    }
    place = 'text';
    if (!listed) return [];
    if (!text.startsWith(list!.end)) {
      closing = onlySpace = false;
      return calls.giveBack('');
    }
    pending = text.slice(list!.end.length);
    return calls.complete();
  }

  /** At the end of the answer: text that was not meant to be read. */
  const isLayout = (text: string): boolean => {
    const rest = text.trimStart();
    return rest === '' ? onlySpace : closing && closes.some((each) => each.startsWith(rest));
  };

  function content(text: string): ToolDelta[] {
    if (text === '') return [];
    onlySpace = false;
    return [{ kind: 'content', text }];
  }

  function end(isStopped: boolean): ToolDelta[] {
    if (place === 'call') return calls.abandon(pending, isStopped);
    if (place === 'opened' && listed && isStopped) return calls.giveBack(opening + pending);
    const isSeparator = continued && pending.trim() === '';
    const rest = place === 'opened' && !isSeparator ? content(opening + pending) : [];
    return [...calls.complete(), ...rest];
  }

  return readSteps({ add: (text) => void (pending += text), step, end });
}

/** The first tag in the text; of tags that begin at the same place, the longest. */
function firstOf(tags: readonly string[], text: string): { found: string | null; at: number } {
  let first: { found: string | null; at: number } = { found: null, at: text.length };
  for (const tag of tags) {
    const at = text.indexOf(tag);
    if (at >= 0 && (at < first.at || (at === first.at && tag.length > (first.found?.length ?? 0))))
      first = { found: tag, at };
  }
  return first;
}

/** White space and the beginning of a tag at the end of the text. */
function heldBack(text: string, tags: readonly string[]): number {
  const before = text.slice(0, text.length - beginningAtEnd(text, tags));
  return text.length - before.trimEnd().length;
}
