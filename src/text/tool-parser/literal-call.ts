// One call whose arguments are literals: Python's `f(a=1)`, Gemma's `call:f{a:1}`. The head is held back until it is certain to be a
// call's.
import type { CallReader } from './call-reader.ts';
import { gemma, PYTHON } from './literal-dialects.ts';
import { createLiteralReader, type Dialect, type LiteralReader } from './literal-reader.ts';

interface Head {
  /** Its first group is the name; the text after the second is read as arguments. */
  readonly whole: RegExp;
  /** Matches text that may still become a head. */
  readonly part: RegExp;
  readonly close: string;
  readonly colon: string;
}

/** Only named arguments make a call: `[see f(x)]` is text. */
const PYTHON_HEAD: Head = {
  whole: /^(\s*([A-Za-z_][\w.-]*)\s*\()\s*(?:\)|[A-Za-z_]\w*\s*=[^=])/,
  part: /^\s*(?:[A-Za-z_][\w.-]*\s*(?:\(\s*(?:[A-Za-z_]\w*\s*=?)?)?)?$/,
  close: ')',
  colon: '=',
};

const GEMMA_HEAD: Head = {
  whole: /^(\s*call:\s*([\w.-]+)\s*\{)/,
  part: /^\s*(?:c|ca|cal|call|call:\s*(?:[\w.-]+\s*)?)?$/,
  close: '}',
  colon: ':',
};

export const createPythonCall = (): CallReader => createLiteralCall(PYTHON, PYTHON_HEAD);
export const createGemmaCall = (quote: string): CallReader => createLiteralCall(gemma(quote), GEMMA_HEAD);

function createLiteralCall(dialect: Dialect, head: Head): CallReader {
  let state: CallReader['state'] = 'reading';
  let name: string | null = null;
  let args: LiteralReader | null = null;

  function readHead(text: string, from: number): number {
    const rest = text.slice(from);
    const found = head.whole.exec(rest);
    if (found) {
      name = found[2]!;
      args = createLiteralReader(dialect, head);
      return from + found[1]!.length;
    }
    if (!head.part.test(rest)) state = 'broken';
    return from;
  }

  return {
    read(text, from) {
      const at = args === null ? readHead(text, from) : from;
      if (args === null) return at;
      const end = args.read(text, at);
      state = args.state;
      return end;
    },
    get state() {
      return state;
    },
    get name() {
      return name;
    },
    takeArguments: () => args?.take() ?? '',
  };
}
