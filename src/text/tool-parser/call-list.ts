// The call that is being read, and its number among those before it: what both syntaxes do with a CallReader. A call that
// has begun stays one, however it ends; one that never began is given back as text.
import type { ToolDelta } from '../tool-parser.ts';
import { createCallReader, type CallReader } from './call-reader.ts';

export interface CallList {
  /** Opens a call. `opening` is the text that led to it; `needsArguments`: see CallReader. */
  begin(opening: string, options: { needsArguments: boolean }): void;
  /** Reads on; `rest` is what lies behind the object, or behind its break. */
  read(text: string): { deltas: ToolDelta[]; rest: string; state: CallReader['state'] };
  /** The generation is over in the middle of it. */
  abandon(): ToolDelta[];
  /** Calls that have begun. */
  readonly count: number;
}

export function createCallList(): CallList {
  let count = 0;
  let reader = createCallReader({ needsArguments: false });
  let begun = false;
  let verbatim = '';

  /** Not a call: its text as it was written. */
  const asContent = (): ToolDelta[] => (begun ? [] : [{ kind: 'content', text: verbatim }]);

  return {
    begin(opening, options) {
      reader = createCallReader(options);
      begun = false;
      verbatim = opening;
    },
    read(text) {
      const end = reader.read(text, 0);
      verbatim += text.slice(0, end);
      const deltas: ToolDelta[] = [];
      if (!begun && reader.name !== null) {
        begun = true;
        deltas.push({ kind: 'call', index: count++, name: reader.name });
      }
      const piece = begun ? reader.takeArguments() : '';
      if (piece !== '') deltas.push({ kind: 'arguments', index: count - 1, text: piece });
      if (reader.state === 'broken') deltas.push(...asContent());
      return { deltas, rest: text.slice(end), state: reader.state };
    },
    abandon: asContent,
    get count() {
      return count;
    },
  };
}
