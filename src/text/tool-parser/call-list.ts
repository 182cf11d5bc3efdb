// The current call and its number among earlier ones: what all syntaxes do with a CallReader. A call that has begun stays a call, however
// it ends; text that turns out not to be a call is given back as text.
import type { CallReader } from './call-reader.ts';
import type { ToolDelta } from './tool-delta.ts';

export interface CallList {
  /** Opens a call. `opening` is the text that introduced it. */
  begin(opening: string, reader: CallReader): void;
  /** Reads on; `rest` is the text after the call, or after the error in it, or what the reader needs again with more text after it. */
  read(text: string): { deltas: ToolDelta[]; rest: string; state: CallReader['state'] };
  /** The generation ended inside it; `rest` was not read. */
  abandon(rest: string): ToolDelta[];
  /** Number of calls that have begun. */
  readonly count: number;
}

export function createCallList(): CallList {
  let count = 0;
  let reader: CallReader | null = null;
  let begun = false;
  let verbatim = '';

  /** Not a call: its text as written. */
  const asContent = (rest: string): ToolDelta[] => (begun ? [] : [{ kind: 'content', text: verbatim + rest }]);

  return {
    begin(opening, next) {
      reader = next;
      begun = false;
      verbatim = opening;
    },
    read(text) {
      const end = reader!.read(text, 0);
      if (!begun) verbatim += text.slice(0, end);
      const deltas: ToolDelta[] = [];
      if (!begun && reader!.name !== null) {
        begun = true;
        deltas.push({ kind: 'call', index: count++, name: reader!.name });
      }
      const piece = begun ? reader!.takeArguments() : '';
      if (piece !== '') deltas.push({ kind: 'arguments', index: count - 1, text: piece });
      if (reader!.state === 'broken') deltas.push(...asContent(''));
      return { deltas, rest: text.slice(end), state: reader!.state };
    },
    abandon: asContent,
    get count() {
      return count;
    },
  };
}
