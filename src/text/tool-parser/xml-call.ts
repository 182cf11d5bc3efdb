// Calls of Qwen3-Coder and Seed: `<function=f>`, then `<parameter=a>`, a line break, the value as bare text, a line break and `</parameter>`
// for each argument, then `</function>`. The tool's schema determines the type of a value (parameter-types.ts): strings are passed on as
// they arrive, others once they are complete. A missing closing tag is assumed where the next tag begins. Tags inside a string of JSON
// are text, and so is the end of the block where no block follows.
import type { ToolDefinition } from '#domain/chat';
import { beginningAtEnd } from '../beginning-at-end.ts';
import type { CallReader } from './call-reader.ts';
import { createJsonBrackets, type JsonBrackets } from './json-brackets.ts';
import { createJsonPieces } from './json-pieces.ts';
import { jsonText } from './json-text.ts';
import { argumentsSchema, isOnlyString, parameterTypes, schemaWithin, type ParameterTypes } from './parameter-types.ts';
import { typedValue } from './typed-value.ts';

const FUNCTION = '<function=';
const FUNCTION_END = '</function>';
const PARAMETER = '<parameter=';
const PARAMETER_END = '</parameter>';

/** `block`: the name of the tag around a call. `isOpen`: `<function=` was read. */
export function createXmlCall(tools: readonly ToolDefinition[], block: string, isOpen: boolean): CallReader {
  const blockEnd = `</${block}>`;
  const valueEnds = [PARAMETER_END, PARAMETER, FUNCTION_END, blockEnd];
  /** What may follow the end of a block; where something else does, it is text of the value. */
  const blocks = [`<${block}>`, FUNCTION];
  let state: CallReader['state'] = 'reading';
  let place: 'function' | 'name' | 'between' | 'key' | 'value' = isOpen ? 'name' : 'function';
  let name: string | null = null;
  const pieces = createJsonPieces();
  let type: ParameterTypes = parameterTypes(undefined, undefined);
  let value = ''; // of a parameter that is not a string, so far
  let brackets: JsonBrackets | null = null; // of that value, once an object or list has begun
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
    const word = text.slice(from, end < 0 ? text.length : end).trim();
    if (wrong.test(word) || (end >= 0 && word === '')) state = 'broken';
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
    if (rest.startsWith(PARAMETER_END) && !pieces.isEmpty) return at + PARAMETER_END.length; // twice
    const end = rest.startsWith(FUNCTION_END) ? FUNCTION_END.length : rest.startsWith(blockEnd) ? 0 : null;
    if (end !== null) {
      pieces.add(pieces.isEmpty ? '{}' : '}');
      state = 'done';
      return at + end;
    }
    if (![PARAMETER, PARAMETER_END, FUNCTION_END, blockEnd].some((tag) => tag.startsWith(rest))) state = 'broken';
    return from;
  }

  function beginValue(key: string): void {
    pieces.add(`${pieces.isEmpty ? '{' : ', '}${JSON.stringify(key)}: `);
    const schema = argumentsSchema(tools, name!);
    type = parameterTypes(schemaWithin(schema, key, schema), schema);
    if (streams()) pieces.add('"');
    value = '';
    brackets = null;
    atBeginning = true;
    place = 'value';
  }

  const streams = () => isOnlyString(type);

  function readValue(text: string, from: number): number {
    if (atBeginning && from < text.length) {
      atBeginning = false;
      if (text[from] === '\n') return from + 1;
    }
    const end = Math.min(...valueEnds.map((tag) => text.indexOf(tag, from)).filter((at) => at >= 0));
    if (end === Infinity) {
      const upTo = text.length - heldBack(text.slice(from), valueEnds);
      add(text.slice(from, upTo));
      return upTo;
    }
    const isBelow = end > from && text[end - 1] === '\n';
    const upTo = isBelow ? end - 1 : end;
    add(text.slice(from, upTo));
    switch (meaningAt(text, end, isBelow)) {
      case 'unknown':
        return upTo;
      case 'text':
        add(text.slice(upTo, end + 1));
        return end + 1;
      case 'end':
        endValue();
        return text.startsWith(PARAMETER_END, end) ? end + PARAMETER_END.length : end;
    }
  }

  /** Of a tag in a value. `isBelow`: a line begins with it, and no string of JSON goes on there. */
  function meaningAt(text: string, at: number, isBelow: boolean): 'end' | 'text' | 'unknown' {
    if (!text.startsWith(blockEnd, at)) return !isBelow && brackets?.quoted === true ? 'text' : 'end';
    const next = text.slice(at + blockEnd.length).trimStart();
    if (blocks.some((tag) => next.startsWith(tag))) return 'end';
    return blocks.some((tag) => tag.startsWith(next)) ? 'unknown' : 'text';
  }

  function endValue(): void {
    pieces.add(streams() ? '"' : typedValue(value, type));
    place = 'between';
  }

  function add(text: string): void {
    if (streams()) return pieces.add(jsonText(text));
    if (brackets === null && /^\s*[{[]/.test(value + text)) brackets = createJsonBrackets();
    if (brackets !== null) for (const character of text) brackets.step(character);
    value += text;
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
    /** As vLLM does, the tags that are missing at the end of an answer are assumed. A value that was cut off is passed on as far as it got. */
    end(isStopped) {
      if (state !== 'reading' || (place !== 'value' && place !== 'between')) return;
      if (!isStopped) {
        if (place === 'value' && !streams()) pieces.add(type.types.has('string') ? `"${jsonText(value)}` : value);
        return;
      }
      if (place === 'value') endValue();
      pieces.add(pieces.isEmpty ? '{}' : '}');
      state = 'done';
    },
  };
}

/** Characters at the end that may be layout before a tag, or the tag itself. */
function heldBack(text: string, tags: readonly string[]): number {
  const tag = beginningAtEnd(text, tags);
  return tag + (text[text.length - tag - 1] === '\n' ? 1 : 0);
}
