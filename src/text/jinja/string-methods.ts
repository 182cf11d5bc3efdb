// Methods of strings as Python's `str` has them: counted and cut by code points, with its own ideas of white space and letters.
import type { Budget } from './budget.ts';
import { TemplateError } from './errors.ts';
import { bind, type Given } from './parameters.ts';
import { asCount, characters, isTrue, itemsOf, lengthOf, Tuple, typeName, Undefined, type Value } from './values.ts';
import { isSpace, trim, trimEnd, trimStart, WHITE_SPACE } from './white-space.ts';

export type StringMethod = (text: string, given: Given, budget: Budget) => Value;

const SPACES = new RegExp(`[${WHITE_SPACE}]+`);
const LINE_ENDS = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

function asText(value: Value | undefined, method: string): string {
  if (typeof value === 'string') return value;
  if (value instanceof Undefined) value.fail();
  throw new TemplateError(`${method}() needs a str, not ${value === undefined ? 'nothing' : typeName(value)}`);
}

const none =
  (name: string, run: (text: string) => Value): StringMethod =>
  (text, given, budget) => {
    bind(name, [], given);
    budget.make(text.length);
    return run(text);
  };

const is = (name: string, pattern: RegExp): StringMethod => none(name, (text) => pattern.test(text));

const strip =
  (name: string, sides: { start: boolean; end: boolean }): StringMethod =>
  (text, given, budget) => {
    const [wanted = null] = bind(name, ['chars'], given);
    budget.make(text.length);
    if (wanted === null) return sides.start ? (sides.end ? trim(text) : trimStart(text)) : trimEnd(text);
    const unwanted = new Set(characters(asText(wanted, name)));
    const letters = characters(text);
    let [from, to] = [0, letters.length];
    if (sides.start) while (from < to && unwanted.has(letters[from]!)) from++;
    if (sides.end) while (to > from && unwanted.has(letters[to - 1]!)) to--;
    return typeof letters === 'string' ? letters.slice(from, to) : letters.slice(from, to).join('');
  };

/** The part from `start` to `stop` in code points, and where it begins; null: it begins after its end. */
function part(
  text: string,
  start: Value | undefined,
  stop: Value | undefined,
): { letters: string; from: number } | null {
  const units = characters(text);
  const clip = (value: Value | undefined, otherwise: number) => {
    if (value === undefined || value === null) return otherwise;
    const at = asCount(value);
    return Math.max(0, at < 0 ? at + units.length : at);
  };
  const from = clip(start, 0);
  if (from > units.length) return null;
  const to = Math.min(units.length, clip(stop, units.length));
  if (to < from) return null;
  return { letters: typeof units === 'string' ? units.slice(from, to) : units.slice(from, to).join(''), from };
}

const find =
  (name: string, isLast: boolean, mustExist: boolean): StringMethod =>
  (text, given, budget) => {
    const [wanted, start, stop] = bind(name, ['sub', 'start', 'end'], given, 1);
    budget.make(text.length);
    const within = part(text, start, stop);
    const sub = asText(wanted, name);
    const at = within === null ? -1 : isLast ? within.letters.lastIndexOf(sub) : within.letters.indexOf(sub);
    if (at >= 0) return within!.from + characters(within!.letters.slice(0, at)).length;
    if (mustExist) throw new TemplateError('substring not found');
    return -1;
  };

const ends =
  (name: string, test: (text: string, end: string) => boolean): StringMethod =>
  (text, given) => {
    const [wanted, start, stop] = bind(name, ['prefix', 'start', 'end'], given, 1);
    const within = part(text, start, stop);
    const options = wanted instanceof Tuple ? wanted.items : [wanted!];
    return options.some((option) => {
      const end = asText(option, name);
      return within !== null && test(within.letters, end);
    });
  };

const justify =
  (name: string, place: (missing: number, width: number) => number): StringMethod =>
  (text, given, budget) => {
    const [width, fill = ' '] = bind(name, ['width', 'fillchar'], given, 1);
    const filler = asText(fill, name);
    if (characters(filler).length !== 1)
      throw new TemplateError('The fill character must be exactly one character long');
    const columns = asCount(width!);
    const missing = columns - characters(text).length;
    if (missing <= 0) return text;
    budget.make(missing + text.length);
    const left = place(missing, columns);
    return filler.repeat(left) + text + filler.repeat(missing - left);
  };

const split =
  (name: string, fromEnd: boolean): StringMethod =>
  (text, given, budget) => {
    const [separator = null, most = -1] = bind(name, ['sep', 'maxsplit'], given);
    const limit = asCount(most) < 0 ? Infinity : asCount(most);
    budget.make(text.length);
    if (separator === null) return splitSpaces(text, limit, fromEnd);
    const mark = asText(separator, name);
    if (mark === '') throw new TemplateError('empty separator');
    const parts = text.split(mark);
    budget.make(parts.length);
    if (parts.length - 1 <= limit) return parts;
    return fromEnd
      ? [parts.slice(0, parts.length - limit).join(mark), ...parts.slice(parts.length - limit)]
      : [...parts.slice(0, limit), parts.slice(limit).join(mark)];
  };

function splitSpaces(text: string, limit: number, fromEnd: boolean): string[] {
  const words = trim(text)
    .split(SPACES)
    .filter((word) => word !== '');
  if (words.length - 1 <= limit) return words;
  if (fromEnd) {
    let rest = trimEnd(text);
    const last: string[] = [];
    while (last.length < limit) {
      const word = words[words.length - 1 - last.length]!;
      rest = trimEnd(rest.slice(0, rest.length - word.length));
      last.unshift(word);
    }
    return [rest, ...last];
  }
  let rest = trimStart(text);
  const first: string[] = [];
  while (first.length < limit) {
    const word = words[first.length]!;
    rest = trimStart(rest.slice(word.length));
    first.push(word);
  }
  return [...first, rest];
}

const partition =
  (name: string, isLast: boolean): StringMethod =>
  (text, given) => {
    const [separator] = bind(name, ['sep'], given, 1);
    const mark = asText(separator, name);
    if (mark === '') throw new TemplateError('empty separator');
    const at = isLast ? text.lastIndexOf(mark) : text.indexOf(mark);
    if (at < 0) return new Tuple(isLast ? ['', '', text] : [text, '', '']);
    return new Tuple([text.slice(0, at), mark, text.slice(at + mark.length)]);
  };

/** Letters whose upper case at the beginning of a word is another one than alone: digraphs, and Greek ones with an iota below. */
const TITLED = new Map([
  ...['\u01c4\u01c5\u01c6', '\u01c7\u01c8\u01c9', '\u01ca\u01cb\u01cc', '\u01f1\u01f2\u01f3'].flatMap((forms) =>
    Array.from(forms, (form) => [form, forms[1]!] as const),
  ),
  ...Array.from(
    { length: 0x30 },
    (_, i) => [String.fromCharCode(0x1f80 + i), String.fromCharCode(0x1f80 + (i | 8))] as const,
  ),
  ...([0x1fb3, 0x1fc3, 0x1ff3] as const).map(
    (code) => [String.fromCharCode(code), String.fromCharCode(code + 9)] as const,
  ),
]);

/** `ß` becomes `Ss`. */
const titled = (letter: string): string => {
  const known = TITLED.get(letter);
  if (known !== undefined) return known;
  const [first = '', ...rest] = Array.from(letter.toUpperCase());
  return /\p{Cased}/u.test(first) ? first + rest.join('').toLowerCase() : first + rest.join('');
};

export function capitalize(text: string): string {
  const [first = ''] = text;
  return titled(first) + text.toLowerCase().slice(first.toLowerCase().length);
}

/** Numbers, and ideographs that count. */
const NUMERIC =
  /^[\p{N}㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零\uf96b\uf973\uf978\uf9b2\uf9d1\uf9d3\uf9fd\u{20001}\u{20064}\u{200e2}\u{20121}\u{2092a}\u{20983}\u{2098c}\u{2099c}\u{20aea}\u{20afd}\u{20b19}\u{22390}\u{22998}\u{23b1b}\u{2626d}\u{2f890}]+$/u;

const title = (text: string): string => {
  let end = 0; // of the last cased letter
  return text.replace(/\p{Cased}/gu, (letter, at: number) => {
    const written = at === 0 || at > end ? titled(letter) : lowered(text, letter, at);
    end = at + letter.length;
    return written;
  });
};

/** A letter in lower case, which for the last one of a Greek word is another than inside. */
const lowered = (text: string, letter: string, at: number): string =>
  letter === 'Σ' && isFinal(text, at) ? 'ς' : letter.toLowerCase();

const isFinal = (text: string, at: number): boolean =>
  /\p{Cased}\p{Case_Ignorable}*$/u.test(text.slice(0, at)) &&
  !/^\p{Case_Ignorable}*\p{Cased}/u.test(text.slice(at + 1));

const expandTabs: StringMethod = (text, given, budget) => {
  const [size = 8] = bind('expandtabs', ['tabsize'], given);
  const width = asCount(size);
  budget.make(text.length + (text.match(/\t/g)?.length ?? 0) * Math.max(0, width));
  let column = 0;
  return Array.from(text, (letter) => {
    if (letter === '\n' || letter === '\r') column = 0;
    else if (letter !== '\t') column++;
    else {
      const spaces = width > 0 ? width - (column % width) : 0;
      column += spaces;
      return ' '.repeat(spaces);
    }
    return letter;
  }).join('');
};

export function replaceText(text: string, old: string, next: string, count: number, budget: Budget): string {
  budget.make(text.length);
  if (old === next) return text;
  const parts = old === '' ? ['', ...characters(text), ''] : text.split(old);
  const times = Math.min(parts.length - 1, count < 0 ? Infinity : count);
  budget.make(text.length + times * next.length);
  if (old === '') return parts.map((letter, i) => (i === 0 ? '' : i <= times ? next + letter : letter)).join('');
  return (
    parts.slice(0, times + 1).join(next) +
    parts
      .slice(times + 1)
      .map((each) => old + each)
      .join('')
  );
}

const join: StringMethod = (text, given, budget) => {
  const [items] = bind('join', ['iterable'], given, 1);
  const parts = itemsOf(items!).map((item, i) => {
    if (typeof item === 'string') return item;
    throw new TemplateError(`sequence item ${i}: expected str instance, ${typeName(item)} found`);
  });
  budget.make(parts.reduce((sum, each) => sum + each.length + text.length, 0));
  return parts.join(text);
};

const splitLines: StringMethod = (text, given, budget) => {
  const [keep = false] = bind('splitlines', ['keepends'], given);
  budget.make(text.length);
  const lines: string[] = [];
  let from = 0;
  for (const end of text.matchAll(LINE_ENDS)) {
    lines.push(text.slice(from, end.index + (isTrue(keep) ? end[0].length : 0)));
    from = end.index + end[0].length;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
};

const zfill: StringMethod = (text, given, budget) => {
  const [width] = bind('zfill', ['width'], given, 1);
  const missing = Math.max(0, asCount(width!) - lengthOf(text));
  budget.make(missing + text.length);
  const sign = /^[-+]/.exec(text)?.[0] ?? '';
  return sign + '0'.repeat(missing) + text.slice(sign.length);
};

/** Cherokee is folded to its capitals, which came first to Unicode. */
const CHEROKEE = /[\u13a0-\u13fd\uab70-\uabbf]/;

/** Unicode's full case folding of one character; of those that have a special one, all others are those of their capital. */
function folded(character: string): string {
  if (character === 'ı') return character;
  if (character === 'ẞ') return 'ss';
  return CHEROKEE.test(character) ? character.toUpperCase() : character.toUpperCase().toLowerCase();
}

export const STRING_METHODS: Readonly<Record<string, StringMethod>> = {
  capitalize: none('capitalize', capitalize),
  casefold: none('casefold', (text) => Array.from(text, folded).join('')),
  center: justify('center', (missing, width) => Math.floor(missing / 2) + (missing & width & 1)),
  count: (text, given, budget) => {
    const [wanted, start, stop] = bind('count', ['sub', 'start', 'end'], given, 1);
    budget.make(text.length);
    const within = part(text, start, stop);
    const sub = asText(wanted, 'count');
    if (within === null) return 0;
    return sub === '' ? characters(within.letters).length + 1 : within.letters.split(sub).length - 1;
  },
  endswith: ends('endswith', (text, end) => text.endsWith(end)),
  expandtabs: expandTabs,
  find: find('find', false, false),
  index: find('index', false, true),
  isalnum: is('isalnum', /^[\p{L}\p{Nd}\p{No}\p{Nl}]+$/u),
  isalpha: is('isalpha', /^\p{L}+$/u),
  isascii: is('isascii', /^[\x00-\x7f]*$/),
  isdecimal: is('isdecimal', /^\p{Nd}+$/u),
  isdigit: is(
    'isdigit',
    /^[\p{Nd}\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490]+$/u,
  ),
  isidentifier: is('isidentifier', /^[\p{ID_Start}_][\p{ID_Continue}]*$/u),
  islower: none('islower', (text) => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text)),
  isnumeric: is('isnumeric', NUMERIC),
  isprintable: is('isprintable', /^(?: |[^\p{C}\p{Z}])*$/u),
  isspace: none('isspace', isSpace),
  istitle: none('istitle', (text) => /\p{Cased}/u.test(text) && title(text) === text),
  isupper: none('isupper', (text) => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text)),
  join,
  ljust: justify('ljust', () => 0),
  lower: none('lower', (text) => text.toLowerCase()),
  lstrip: strip('lstrip', { start: true, end: false }),
  partition: partition('partition', false),
  removeprefix: (text, given) => {
    const [prefix] = bind('removeprefix', ['prefix'], given, 1);
    const start = asText(prefix, 'removeprefix');
    return text.startsWith(start) ? text.slice(start.length) : text;
  },
  removesuffix: (text, given) => {
    const [suffix] = bind('removesuffix', ['suffix'], given, 1);
    const end = asText(suffix, 'removesuffix');
    return end !== '' && text.endsWith(end) ? text.slice(0, -end.length) : text;
  },
  replace: (text, given, budget) => {
    const [old, next, count = -1] = bind('replace', ['old', 'new', 'count'], given, 2);
    return replaceText(text, asText(old, 'replace'), asText(next, 'replace'), asCount(count), budget);
  },
  rfind: find('rfind', true, false),
  rindex: find('rindex', true, true),
  rjust: justify('rjust', (missing) => missing),
  rpartition: partition('rpartition', true),
  rsplit: split('rsplit', true),
  rstrip: strip('rstrip', { start: false, end: true }),
  split: split('split', false),
  splitlines: splitLines,
  startswith: ends('startswith', (text, start) => text.startsWith(start)),
  strip: strip('strip', { start: true, end: true }),
  swapcase: none('swapcase', (text) =>
    text.replace(/\p{Uppercase}|\p{Lowercase}/gu, (letter, at: number) =>
      /\p{Uppercase}/u.test(letter) ? lowered(text, letter, at) : letter.toUpperCase(),
    ),
  ),
  title: none('title', title),
  upper: none('upper', (text) => text.toUpperCase()),
  zfill,
};
