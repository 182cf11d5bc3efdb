// The two languages, other than JSON, in which arguments are written as literals.
import type { Dialect } from './literal-reader.ts';

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** As Python writes numbers: `1_000`, `.5`, `1.`, `+2`, `007`. Null: it is none. */
function numberValue(atom: string): string | null {
  if (JSON_NUMBER.test(atom)) return atom;
  const parts = /^([+-]?)([\d_]*)(?:(\.)([\d_]*))?([eE][+-]?\d+)?$/.exec(atom.replace(/(\d)_(?=\d)/g, '$1'));
  if (!parts) return null;
  const [, sign, whole = '', dot, fraction = '', exponent = ''] = parts;
  if (whole + fraction === '' || (whole + fraction).includes('_')) return null;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${dot === undefined ? '' : `.${fraction || '0'}`}${exponent}`;
}

/** JSON's own names too: models mix them. */
const PYTHON_NAMES: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
]);

export const PYTHON: Dialect = {
  quotes: ['"""', "'''", '"', "'"],
  escapes: true,
  brackets: { '{': '}', '[': ']', '(': ')' },
  bareKeys: false,
  atom: /[-+.\w]+/y,
  atomValue: (atom) => PYTHON_NAMES.get(atom) ?? numberValue(atom),
};

const GEMMA_NAMES: ReadonlySet<string> = new Set(['null', 'none', 'nil']);

/** `quote` is a special token. What is neither a number nor a name is a string without quotes. */
export const gemma = (quote: string): Dialect => ({
  quotes: [quote],
  escapes: false,
  brackets: { '{': '}', '[': ']' },
  bareKeys: true,
  atom: /[^,}\]<]+/y,
  atomValue(atom) {
    const name = atom.toLowerCase();
    if (name === 'true' || name === 'false') return name;
    return GEMMA_NAMES.has(name) ? 'null' : JSON_NUMBER.test(atom) ? atom : JSON.stringify(atom);
  },
});
