// One call as Python writes it, `f(a=1, b='x')`. The whole call is read before any of it is passed on, because only its end shows whether
// it is one: brackets and strings are followed as they arrive, then python-literal.ts reads the arguments.
import type { CallReader } from './call-reader.ts';
import { readPythonArguments } from './python-literal.ts';

/** Only named arguments make a call: `[see f(x)]` is text. */
const HEAD = /^\s*((?:[\p{XID_Start}_])[\p{XID_Continue}.-]*)\s*\(\s*(?:\)|[\p{XID_Start}_]\p{XID_Continue}*\s*=[^=])/u;
const HEAD_PART =
  /^\s*(?:[\p{XID_Start}_][\p{XID_Continue}.-]*\s*(?:\(\s*(?:[\p{XID_Start}_]\p{XID_Continue}*\s*=?)?)?)?$/u;

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' };

export function createPythonCall(): CallReader {
  let state: CallReader['state'] = 'reading';
  let name: string | null = null;
  let call = ''; // from the opening bracket
  let args = '';
  const ends = createEndFinder();

  function readHead(text: string, from: number): number {
    const rest = text.slice(from);
    const found = HEAD.exec(rest);
    if (!found && !HEAD_PART.test(rest)) state = 'broken';
    if (!found) return from;
    name = found[1]!;
    return from + rest.indexOf('(');
  }

  function finish(): void {
    const read = readPythonArguments(call.slice(1));
    state = read?.isComplete === true ? 'done' : 'broken';
    args = read?.json ?? '';
  }

  return {
    read(text, from) {
      let at = name === null ? readHead(text, from) : from;
      if (name === null) return at;
      const begun = at;
      while (at < text.length && state === 'reading') {
        const found = ends.step(text[at++]!);
        if (found === 'wrong') state = 'broken';
        if (found === 'end') {
          call += text.slice(begun, at);
          finish();
          return at;
        }
      }
      call += text.slice(begun, at);
      return at;
    },
    end(isStopped) {
      if (isStopped || name === null) return;
      const read = readPythonArguments(call.slice(1));
      if (read === null) state = 'broken';
      else args = read.json;
    },
    get state() {
      return state;
    },
    get name() {
      return name;
    },
    takeArguments() {
      const taken = args;
      args = '';
      return taken;
    },
  };
}

/** Finds the bracket that closes the first one, in code of which strings, comments and brackets are all that counts. */
function createEndFinder() {
  const open: string[] = [];
  let quote: string | null = null; // of the string inside which the next character is
  let run = ''; // of quotes that open or may close a string
  let isEscaped = false;
  let isComment = false;

  /** The characters that open a string are complete. */
  function opened(character: string): boolean {
    if (run.length === 2 && character !== run[0]) {
      run = ''; // an empty string
      return false;
    }
    if (run.length === 1 && character !== run) {
      quote = run;
      run = '';
      return false;
    }
    run += character;
    if (run.length === 3) {
      quote = run;
      run = '';
    }
    return true;
  }

  function inString(character: string): 'wrong' | null {
    if (isEscaped) isEscaped = false;
    else if (character === '\\') {
      isEscaped = true;
      run = '';
    } else if (character === quote![0]) {
      run += character;
      if (run === quote) quote = null;
      if (quote === null) run = '';
    } else if (quote!.length === 1 && (character === '\n' || character === '\r')) return 'wrong';
    else run = '';
    return null;
  }

  return {
    step(character: string): 'end' | 'wrong' | null {
      if (quote === null && run !== '' && opened(character)) return null;
      if (quote !== null) return inString(character);
      if (isComment) {
        isComment = character !== '\n' && character !== '\r';
        return null;
      }
      if (character === '"' || character === "'") run = character;
      else if (character === '#') isComment = true;
      else if ('([{'.includes(character)) open.push(character);
      else if (')]}'.includes(character)) {
        if (CLOSING[open.pop() ?? ''] !== character) return 'wrong';
        if (open.length === 0) return 'end';
      }
      return null;
    },
  };
}
