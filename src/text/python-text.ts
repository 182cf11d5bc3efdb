// Python's `str()` and `repr()` for the values that templates handle: what {{ … }}, `~` and `| string` write.
import { PythonFloat, pythonFloatText } from './python-json.ts';

/** Undefined is empty, as in Jinja; null is None. Dicts are Maps. */
export function pythonText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : pythonRepr(value);
}

export function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'string') return quote(value);
  if (value instanceof PythonFloat) return pythonFloatText(value.value);
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  if (value instanceof Map) {
    return `{${[...(value as Map<string, unknown>)].map(([key, item]) => `${quote(key)}: ${pythonRepr(item)}`).join(', ')}}`;
  }
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : '<function>';
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Single quotes, unless only single ones occur inside. Unprintable characters are escaped; letters of any script are printable. */
function quote(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\p{C}\p{Z}\\'"]/gu, (character) => {
    if (character === ' ') return character;
    if (character === "'" || character === '"') return character === mark ? `\\${character}` : character;
    const code = character.codePointAt(0)!;
    const [prefix, width] = code < 0x100 ? ['\\x', 2] : code < 0x10000 ? ['\\u', 4] : ['\\U', 8];
    return SHORT_ESCAPES[character] ?? prefix + code.toString(16).padStart(width, '0');
  });
  return mark + escaped + mark;
}
