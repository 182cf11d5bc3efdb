// A call whose name precedes its arguments, which are a JSON object: Mistral's `f[ARGS]{…}` and `f[CALL_ID]123[ARGS]{…}`, or without
// the marks. Arguments are passed on as written.
import type { CallReader } from './call-reader.ts';
import { createJsonBrackets } from './json-brackets.ts';
import { createJsonPieces } from './json-pieces.ts';

const ARGS = '[ARGS]';
const CALL_ID = '[CALL_ID]';
const HEAD = /^\s*([^\s[\]{}<>"]+)\s*(?:\[CALL_ID\]([^\s[\]{}<>"]+))?\s*(?:\[ARGS\])?\s*\{/;
const WORD = /^\s*[^\s[\]{}<>"]*/;

export function createNamedCall(): CallReader {
  const brackets = createJsonBrackets();
  let state: CallReader['state'] = 'reading';
  let name: string | null = null;
  const pieces = createJsonPieces();

  function readHead(text: string, from: number): number {
    const rest = text.slice(from);
    const found = HEAD.exec(rest);
    if (found) {
      name = found[1]!;
      return from + found[0].length - 1;
    }
    if (!mayBecomeHead(rest)) state = 'broken';
    return from;
  }

  return {
    read(text, from) {
      let at = name === null ? readHead(text, from) : from;
      if (name === null) return at;
      const begun = at;
      while (at < text.length && state === 'reading') if (brackets.step(text[at++]!)) state = 'done';
      pieces.add(text.slice(begun, at));
      return at;
    },
    get state() {
      return state;
    },
    get name() {
      return name;
    },
    takeArguments: pieces.take,
  };
}

/** Matches text with an incomplete head. */
function mayBecomeHead(text: string): boolean {
  const name = WORD.exec(text)![0];
  let rest = text.slice(name.length).trimStart();
  if (rest === '') return true;
  if (name.trim() === '') return false;
  if (rest.startsWith(CALL_ID)) {
    rest = rest.slice(CALL_ID.length);
    const id = WORD.exec(rest)![0];
    rest = rest.slice(id.length).trimStart();
    if (rest === '') return !/^\s/.test(id);
  } else if (CALL_ID.startsWith(rest)) return true;
  return (
    ARGS.startsWith(rest) || (rest.startsWith(ARGS) && rest.slice(ARGS.length).trim() === '') || rest.trim() === ''
  );
}
