// The calls of a unit, which is one call or a list of them, and their numbers among earlier ones: what all syntaxes do with a CallReader.
// A unit is passed on once it is complete, because what turns out not to be calls is given back as text as a whole: clients never get half
// of the arguments and the rest as text. Where a constraint makes sure that calls are complete, they are passed on as they arrive.
import type { CallReader } from './call-reader.ts';
import { isJson } from './is-json.ts';
import type { ToolDelta } from './tool-delta.ts';

export interface CallList {
  /** Opens a call, the first of a unit or the next one. `opening` is the text that introduced it. */
  begin(opening: string, reader: CallReader): void;
  /** Reads on; `rest` is the text after the call, or after the error in it, or what the reader needs again with more text after it. */
  read(text: string): { deltas: ToolDelta[]; rest: string; state: CallReader['state'] };
  /** The unit ends, with the call that was read last: its calls. */
  complete(): ToolDelta[];
  /** The unit is no list of calls: its text, with `rest`. */
  giveBack(rest: string): ToolDelta[];
  /** The generation ended inside a call; `rest` was not read. `isStopped`: the model ended it. */
  abandon(rest: string, isStopped: boolean): ToolDelta[];
  /** Number of calls that have been passed on or will be. */
  readonly count: number;
}

/** `isCertain`: what begins as a call is one. */
export function createCallList(isCertain = false): CallList {
  let count = 0;
  let before = 0; // calls before the unit
  let reader: CallReader | null = null;
  let begun = false;
  let verbatim = ''; // of the unit
  let ofCall = 0; // where the text of the last call begins there
  let pending: ToolDelta[] = [];
  let written = ''; // arguments of the call so far

  /** What has been read of the call. */
  function take(): ToolDelta[] {
    const deltas: ToolDelta[] = [];
    if (!begun && reader!.name !== null) {
      begun = true;
      if (isCertain) before = count + 1;
      deltas.push({ kind: 'call', index: count++, name: reader!.name });
    }
    const piece = begun ? reader!.takeArguments() : '';
    if (piece !== '') deltas.push({ kind: 'arguments', index: count - 1, text: piece });
    if (!isCertain) written += piece;
    return deltas;
  }

  function complete(): ToolDelta[] {
    const deltas = pending;
    pending = [];
    verbatim = '';
    before = count;
    return deltas;
  }

  function giveBack(rest: string): ToolDelta[] {
    const text = verbatim + rest;
    count = before;
    pending = [];
    verbatim = '';
    return text === '' ? [] : [{ kind: 'content', text }];
  }

  return {
    begin(opening, next) {
      reader = next;
      begun = false;
      written = '';
      ofCall = verbatim.length;
      verbatim += opening;
    },
    read(text) {
      const end = reader!.read(text, 0);
      if (!isCertain || !begun) verbatim += text.slice(0, end);
      const deltas = take();
      const rest = text.slice(end);
      const isBroken = reader!.state === 'broken' || (reader!.state === 'done' && !isCertain && !isJson(written));
      const state = isBroken ? 'broken' : reader!.state;
      if (isCertain) {
        if (begun) verbatim = '';
        return { deltas: isBroken && !begun ? giveBack('') : deltas, rest, state };
      }
      pending.push(...deltas);
      return { deltas: isBroken ? giveBack('') : [], rest, state };
    },
    complete,
    giveBack,
    abandon(rest, isStopped) {
      reader!.end?.(isStopped);
      pending.push(...take());
      const isCall = isStopped ? reader!.state === 'done' && isJson(written) : begun && reader!.state !== 'broken';
      if (isCertain ? begun : isCall) return complete();
      if (isStopped || reader!.state === 'broken') return giveBack(rest);
      const text = verbatim.slice(ofCall) + rest;
      return [...complete(), ...(text === '' ? [] : [{ kind: 'content' as const, text }])];
    },
    get count() {
      return count;
    },
  };
}
