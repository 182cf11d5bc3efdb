// Qwen3-Coder's calls: `<function=f>`, then `<parameter=a>`, a line break, the value as bare text, a line break and `</parameter>` for each
// argument, then `</function>`. The tool's schema determines the type of a value (parameter-kind.ts): strings are passed on as they arrive,
// others once they are complete. A missing closing tag is assumed where the next tag begins.
import { isObject } from '#base/is-object';
import type { ToolDefinition } from '#domain/chat';
import { beginningAtEnd } from '../beginning-at-end.ts';
import type { CallReader } from './call-reader.ts';
import { createJsonPieces } from './json-pieces.ts';
import { jsonText } from './json-text.ts';
import { PYTHON } from './literal-dialects.ts';
import { createLiteralReader } from './literal-reader.ts';
import { parameterType, type ParameterType } from './parameter-kind.ts';

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
  let type: ParameterType = { kind: 'string', nullable: false };
  let value = ''; // of a parameter that is not a string, so far
  let atBeginning = true; // of the value: one line break is layout

  /** Where it stopped; if it has not moved, more text is needed. */
  function step(text: string, at: number): number {
    switch (place) {
      case 'function':
        return readTag(text, at, FUNCTION, () => (place = 'name'));
      case 'name':
        return readUntilBracket(text, at, (found) => {
          name = found;
          place = 'between';
        });
      case 'between':
        return readBetween(text, at);
      case 'key':
        return readUntilBracket(text, at, beginValue);
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
  function readUntilBracket(text: string, from: number, found: (name: string) => void): number {
    const end = text.indexOf('>', from);
    const word = text.slice(from, end < 0 ? text.length : end);
    if (/[\s<]/.test(word) || (end >= 0 && word === '')) state = 'broken';
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
    type = parameterType(propertiesOf(tools, name!)[key]);
    if (streams()) pieces.add('"');
    value = '';
    atBeginning = true;
    place = 'value';
  }

  const streams = () => type.kind === 'string' && !type.nullable;

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
    pieces.add(streams() ? '"' : jsonValue(value, type));
    place = 'between';
    return text.startsWith(PARAMETER_END, end) ? end + PARAMETER_END.length : end;
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
  };
}

/** Characters at the end that may be layout before a tag, or the tag itself. */
function heldBack(text: string): number {
  const tag = beginningAtEnd(text, VALUE_ENDS);
  return tag + (text[text.length - tag - 1] === '\n' ? 1 : 0);
}

function propertiesOf(tools: readonly ToolDefinition[], name: string): Readonly<Record<string, unknown>> {
  const parameters = tools.find((tool) => tool.function.name === name)?.function.parameters;
  return isObject(parameters) && isObject(parameters.properties) ? parameters.properties : {};
}

/** What is not a value of its type is passed on as a string. */
function jsonValue(text: string, { kind, nullable }: ParameterType): string {
  const word = text.trim();
  if ((nullable || kind !== 'string') && /^(null|none)$/i.test(word)) return 'null';
  if (kind === 'string') return JSON.stringify(text);
  if (kind === 'boolean') return /^(true|false)$/i.test(word) ? word.toLowerCase() : JSON.stringify(text);
  return jsonOf(word) ?? pythonOf(word) ?? JSON.stringify(text);
}

function jsonOf(text: string): string | null {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return null;
  }
}

/** Templates write earlier values as Python prints them, and models repeat that. */
function pythonOf(text: string): string | null {
  const reader = createLiteralReader(PYTHON, { close: ')', colon: '=' });
  const written = `x=${text})`;
  if (reader.read(written, 0) !== written.length || reader.state !== 'done') return null;
  return reader.take().slice('{"x": '.length, -'}'.length);
}
