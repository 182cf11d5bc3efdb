// One call as Gemma writes it, `call:f{a:1}`; models also write `:f{a:1}` and `call:f(a:1)`. The head is held back until it is certain to be
// a call's.
import type { ToolDefinition } from '#domain/chat';
import type { CallReader } from './call-reader.ts';
import { gemma } from './gemma-dialect.ts';
import { createLiteralReader, type LiteralReader } from './literal-reader.ts';
import { argumentsSchema } from './parameter-types.ts';

/** Its first group is what precedes the arguments, its second the name. */
const HEAD = /^(\s*(?:call)?:\s*([\w.-]+)\s*[{(])/;
/** Matches text that may still become a head. */
const HEAD_PART = /^\s*(?:c|ca|cal|call|(?:call)?:\s*(?:[\w.-]+\s*)?)?$/;

/** `quote` encloses strings. */
export function createGemmaCall(quote: string, tools: readonly ToolDefinition[]): CallReader {
  let state: CallReader['state'] = 'reading';
  let name: string | null = null;
  let args: LiteralReader | null = null;

  function readHead(text: string, from: number): number {
    const rest = text.slice(from);
    const found = HEAD.exec(rest);
    if (found) {
      name = found[2]!;
      const close = found[1]!.endsWith('{') ? '}' : ')';
      args = createLiteralReader(gemma(quote, close), argumentsSchema(tools, name), close);
      return from + found[1]!.length;
    }
    if (!HEAD_PART.test(rest)) state = 'broken';
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
    end(isStopped) {
      if (!isStopped) args?.cutOff();
    },
  };
}
