// Lines of data: JSON text → values. Arguments of tool calls that are objects stay as they are written, as JSON text: numbers
// (`1.0`, 2^60) and the order of keys reach the chat template unchanged.
import { isObject } from '#base/is-object';
import { parseJson } from '#validation/json-text';

/** Throws ValidationError. `tools` are values throughout: their schemas may have a parameter named `arguments`. */
export function parseRow(text: string): unknown {
  const quoted = quoteArguments(text);
  const value = parseJson(quoted);
  if (quoted === text || !isObject(value) || !('tools' in value || 'functions' in value)) return value;
  const { tools, functions } = parseJson(text) as Record<string, unknown>;
  return { ...value, ...(tools === undefined ? {} : { tools }), ...(functions === undefined ? {} : { functions }) };
}

/** Puts each object after the key `arguments` between quotes. Text that is not JSON stays so: it is parsed afterwards. */
function quoteArguments(text: string): string {
  let written = '';
  let copied = 0;
  let at = 0;
  while ((at = text.indexOf('"', at)) >= 0) {
    const end = endOfString(text, at);
    const key = text.slice(at, end);
    at = end;
    if (key !== '"arguments"') continue;
    const opening = /^\s*:\s*(?=\{)/.exec(text.slice(end, end + 100));
    if (!opening) continue;
    const start = end + opening[0].length;
    const close = endOfObject(text, start);
    written += text.slice(copied, start) + JSON.stringify(text.slice(start, close));
    copied = at = close;
  }
  return written + text.slice(copied);
}

/** After the string that opens there, or the text's end. */
function endOfString(text: string, opening: number): number {
  for (let at = opening + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

/** After the object that opens there, or the text's end. */
function endOfObject(text: string, opening: number): number {
  let depth = 0;
  for (let at = opening; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at) - 1;
    else if (text[at] === '{') depth++;
    else if (text[at] === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}
