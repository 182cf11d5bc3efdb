// How Gemma writes values.
import type { Dialect } from './literal-reader.ts';

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const GEMMA_NAMES: ReadonlySet<string> = new Set(['null', 'none', 'nil']);

/** `quote` is a special token; `close` ends the arguments. What is neither a number nor a name is a string without quotes. */
export const gemma = (quote: string, close: string): Dialect => ({
  quotes: [quote],
  brackets: { '{': '}', '[': ']' },
  atom: close === ')' ? /[^,)}\]<]+/y : /[^,}\]<]+/y,
  atomValue(atom) {
    const name = atom.toLowerCase();
    if (name === 'true' || name === 'false') return name;
    return GEMMA_NAMES.has(name) ? 'null' : JSON_NUMBER.test(atom) ? atom : JSON.stringify(atom);
  },
});
