// Qwen3-Coder's calls: `<function=f>`, then `<parameter=a>`, a line break, the value as bare text, a line break and `</parameter>` for each
// argument, then `</function>`. The tool's schema determines the type of a value (parameter-types.ts): strings are passed on as they arrive,
// others once they are complete. A missing closing tag is assumed where the next tag begins.
import type { ToolDefinition } from '#domain/chat';
import { beginningAtEnd } from '../beginning-at-end.ts';
import type { CallReader } from './call-reader.ts';
import { createJsonPieces } from './json-pieces.ts';
import { jsonText } from './json-text.ts';
import { argumentsSchema, isOnlyString, parameterTypes, schemaWithin, type ParameterTypes } from './parameter-types.ts';
import { typedValue } from './typed-value.ts';

const FUNCTION = '<function=';
const FUNCTION_END = '</function>';
const PARAMETER = '<parameter=';
const PARAMETER_END = '</parameter>';
const BLOCK_END = '</tool_call>';
const VALUE_ENDS = [PARAMETER_END, PARAMETER, FUNCTION_END, BLOCK_END];

/** `isOpen`: `<function=` was read. */
export function createXmlCall(tools: readonly ToolDefinition[], isOpen: boolean): CallReader {
  let state: CallReader['state'] = 'reading';
  let place: 'function' | 'name' | 'between' | 'key' | 'value' = isOpen ? 'name' : 'function';
  let name: string | null = null;
  const pieces = createJsonPieces();
  let type: ParameterTypes = parameterTypes(undefined, undefined);
  let value = ''; // of a parameter that is not a string, so far
  let atBeginning = true; // of the value: one line break is layout

  /** Where it stopped; if it has not moved, more text is needed. */
  function step(text: string, at: number): number {
    switch (place) {
      case 'function':
        return readTag(text, at, FUNCTION, () => (place = 'name'));
      case 'name':
        return readUntilBracket(text, at, /[\s<]/, (found) => {
          name = found;
          place = 'between';
        });
      case 'between':
        return readBetween(text, at);
      case 'key':
        return readUntilBracket(text, at, /[<\r\n\t]/, beginValue);
      case 'value':
        return readValue(text, at);
    }
  }

  function readTag(text: string, from: number, tag: string, found: () => void): number {
    const at = from + (text.length - from - text.slice(from).trimStart().length);
    if (text.startsWith(tag, at)) {
      found();
      return at + tag.length;
    }
    if (!tag.startsWith(text.slice(at))) state = 'broken';
    return from;
  }

  /** The name after `=`. */
  function readUntilBracket(text: string, from: number, wrong: RegExp, found: (name: string) => void): number {
    const end = text.indexOf('>', from);
    const word = text.slice(from, end < 0 ? text.length : end);
    if (wrong.test(word) || (end >= 0 && word.trim() === '')) state = 'broken';
    if (end < 0 || state === 'broken') return from;
    found(word);
    return end + 1;
  }

  function readBetween(text: string, from: number): number {
    const rest = text.slice(from).trimStart();
    const at = text.length - rest.length;
    if (rest.startsWith(PARAMETER)) {
      place = 'key';
      return at + PARAMETER.length;
    }
    const end = rest.startsWith(FUNCTION_END) ? FUNCTION_END.length : rest.startsWith(BLOCK_END) ? 0 : null;
    if (end !== null) {
      pieces.add(pieces.isEmpty ? '{}' : '}');
      state = 'done';
      return at + end;
    }
    if (![PARAMETER, FUNCTION_END, BLOCK_END].some((tag) => tag.startsWith(rest))) state = 'broken';
    return from;
  }

  function beginValue(key: string): void {
    pieces.add(`${pieces.isEmpty ? '{' : ', '}${JSON.stringify(key)}: `);
    const schema = argumentsSchema(tools, name!);
    type = parameterTypes(schemaWithin(schema, key, schema), schema);
    if (streams()) pieces.add('"');
    value = '';
    atBeginning = true;
    place = 'value';
  }

  const streams = () => isOnlyString(type);

  function readValue(text: string, from: number): number {
    if (atBeginning && from < text.length) {
      atBeginning = false;
      if (text[from] === '\n') return from + 1;
    }
    const ends = VALUE_ENDS.map((tag) => text.indexOf(tag, from)).filter((at) => at >= 0);
    const end = ends.length > 0 ? Math.min(...ends) : null;
    const held = end === null ? heldBack(text.slice(from)) : 0;
    const upTo = end ?? text.length - held;
    if (end === null) {
      add(text.slice(from, upTo));
      return upTo;
    }
    add(text.slice(from, text[end - 1] === '\n' && end > from ? end - 1 : end));
    endValue();
    return text.startsWith(PARAMETER_END, end) ? end + PARAMETER_END.length : end;
  }

  function endValue(): void {
    pieces.add(streams() ? '"' : typedValue(value, type));
    place = 'between';
  }

  function add(text: string): void {
    if (streams()) pieces.add(jsonText(text));
    else value += text;
  }

  return {
    read(text, from) {
      let at = from;
      while (state === 'reading') {
        const [before, next] = [place, step(text, at)];
        if (next === at && place === before) break;
        at = next;
      }
      return at;
    },
    get state() {
      return state;
    },
    get name() {
      return name;
    },
    takeArguments: pieces.take,
    /** As vLLM does, the tags that are missing at the end of an answer are assumed. */
    end(isStopped) {
      if (!isStopped || state !== 'reading' || (place !== 'value' && place !== 'between')) return;
      if (place === 'value') endValue();
      pieces.add(pieces.isEmpty ? '{}' : '}');
      state = 'done';
    },
  };
}

/** Characters at the end that may be layout before a tag, or the tag itself. */
function heldBack(text: string): number {
  const tag = beginningAtEnd(text, VALUE_ENDS);
  return tag + (text[text.length - tag - 1] === '\n' ? 1 : 0);
}
