// Pre-tokenizers of a tokenizer.json: how a text is split before the model sees its parts. Knows no tokens.
import { prependText, replaceMatches, sliceText, type AlignedText } from './aligned-text.ts';
import { toByteLevel } from './byte-level.ts';
import { flatten, fieldsOf, type Fields } from './fields.ts';
import { readPattern, regexSpans } from './patterns.ts';
import { invertSpans, SPLIT_BEHAVIORS, spansOfCharacters, spansOfText, splitText } from './split-text.ts';
import { scriptOf } from './scripts.ts';
import { laterIn } from './later-characters.ts';
import { characterSet } from './regex/character-set.ts';

/** One part → the parts that it becomes. */
export type SplitPart = (part: AlignedText) => readonly AlignedText[];

/** Throws `bad_model_files`. */
export function readPreTokenizer(value: unknown): SplitPart {
  if ((value ?? null) === null) return (part) => [part];
  const steps = flatten(fieldsOf(value, 'pre_tokenizer'), 'pretokenizers').map(readOne);
  return (part) => steps.reduce<readonly AlignedText[]>((parts, step) => parts.flatMap(step), [part]);
}

function readOne(fields: Fields): SplitPart {
  if (!Object.hasOwn(KINDS, fields.type))
    throw fields.refuse(`has the type ${JSON.stringify(fields.type)}; known are ${Object.keys(KINDS).join(', ')}`);
  return KINDS[fields.type]!(fields);
}

const set = (expression: RegExp) => characterSet((point) => expression.test(String.fromCodePoint(point))).has;
const isWhiteSpace = set(/\p{White_Space}/u);
const isLaterPunctuation = laterIn('punctuation');
const isPunctuation = characterSet(
  (point) => /[\p{P}$+<=>^`|~\u166d\u{111c9}]/u.test(String.fromCodePoint(point)) && !isLaterPunctuation(point),
).has;
const isNumeric = set(/\p{N}/u);
const isWord = set(/[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u);

const KINDS: Readonly<Record<string, (fields: Fields) => SplitPart>> = {
  Split: readSplit,
  ByteLevel: readByteLevel,
  Metaspace: readMetaspace,
  Digits: readDigits,
  Punctuation: readPunctuation,
  Whitespace: () => (part) => splitText(part, wordSpans(part.text), 'Isolated').filter(({ text }) => !isSpace(text)),
  WhitespaceSplit: () => splitAtSpaces,
  BertPreTokenizer: () => (part) =>
    splitAtSpaces(part).flatMap((word) => splitText(word, spansOfCharacters(word.text, isPunctuation), 'Isolated')),
  CharDelimiterSplit: readDelimiter,
  FixedLength: readFixedLength,
  UnicodeScripts: () => (part) => splitText(part, scriptSpans(part.text), 'Isolated'),
};

const isSpace = (text: string): boolean => isWhiteSpace(text.codePointAt(0)!);

const splitAtSpaces: SplitPart = (part) => splitText(part, spansOfCharacters(part.text, isWhiteSpace), 'Removed');

/** Runs of one script; what belongs to any continues the run before it, and is dropped where there is none. */
function scriptSpans(text: string): { from: number; to: number; isMatch: boolean }[] {
  const spans: { from: number; to: number; isMatch: boolean }[] = [];
  let last: number | null = null;
  let from = text.length;
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at)!;
    const script = scriptOf(point);
    if (script !== null && script !== last) {
      if (last !== null) spans.push({ from, to: at, isMatch: true });
      from = at;
    }
    last = script ?? last;
    at += point > 0xffff ? 2 : 1;
  }
  if (from < text.length) spans.push({ from, to: text.length, isMatch: true });
  return spans;
}

/** Runs of word characters, of white space, and of others. */
function wordSpans(text: string): { from: number; to: number; isMatch: boolean }[] {
  const spans: { from: number; to: number; isMatch: boolean }[] = [];
  let kind = -1;
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at)!;
    const to = at + (point > 0xffff ? 2 : 1);
    const found = isWord(point) ? 0 : isWhiteSpace(point) ? 1 : 2;
    if (found === kind) spans[spans.length - 1]!.to = to;
    else spans.push({ from: at, to, isMatch: true });
    [kind, at] = [found, to];
  }
  return spans;
}

function readSplit(fields: Fields): SplitPart {
  const find = readPattern(fields);
  const behavior = fields.oneOf('behavior', SPLIT_BEHAVIORS);
  const invert = fields.flag('invert');
  return (part) => {
    const spans = find(part.text);
    return splitText(part, invert ? invertSpans(spans) : spans, behavior);
  };
}

const GPT2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

function readByteLevel(fields: Fields): SplitPart {
  const addsSpace = fields.flag('add_prefix_space');
  fields.flag('trim_offsets');
  const find = fields.flag('use_regex', true) ? regexSpans(GPT2, fields) : null;
  return (part) => {
    const whole = addsSpace && !part.text.startsWith(' ') ? prependText(part, ' ') : part;
    if (!find) return [toByteLevel(whole)];
    return splitText(whole, find(whole.text), 'Isolated').map(toByteLevel);
  };
}

export const PREPEND_SCHEMES = ['always', 'first', 'never'] as const;

/** Of a Metaspace, as pre-tokenizer or decoder; files of before 2023 have `add_prefix_space` beside the scheme. */
export function readPrependScheme(fields: Fields): (typeof PREPEND_SCHEMES)[number] {
  const scheme = fields.oneOf('prepend_scheme', PREPEND_SCHEMES, 'always');
  if (fields.optional('add_prefix_space', fields.flag) === false && scheme !== 'never')
    throw fields.refuse('has add_prefix_space, which contradicts its prepend_scheme');
  return scheme;
}

function readMetaspace(fields: Fields): SplitPart {
  const mark = fields.character('replacement');
  const scheme = readPrependScheme(fields);
  const splits = fields.optional('split', fields.flag) ?? true;
  return (part) => {
    let marked = replaceMatches(part, spansOfText(part.text, ' '), mark);
    const isWanted = scheme === 'always' || (scheme === 'first' && part.origin === 0);
    if (isWanted && !marked.text.startsWith(mark)) marked = prependText(marked, mark);
    return splits ? splitText(marked, spansOfText(marked.text, mark), 'MergedWithNext') : [marked];
  };
}

function readDigits(fields: Fields): SplitPart {
  const behavior = fields.flag('individual_digits') ? 'Isolated' : 'Contiguous';
  return (part) => splitText(part, spansOfCharacters(part.text, isNumeric), behavior);
}

function readPunctuation(fields: Fields): SplitPart {
  const behavior = fields.oneOf('behavior', SPLIT_BEHAVIORS, 'Isolated');
  return (part) => splitText(part, spansOfCharacters(part.text, isPunctuation), behavior);
}

function readDelimiter(fields: Fields): SplitPart {
  const delimiter = fields.character('delimiter');
  return (part) => splitText(part, spansOfText(part.text, delimiter), 'Removed');
}

function readFixedLength(fields: Fields): SplitPart {
  const length = fields.count('length', 5);
  if (length === 0) throw fields.refuse('must have length, at least 1');
  return (part) => {
    const characters = Array.from(part.text);
    let at = 0;
    return Array.from({ length: Math.ceil(characters.length / length) }, (_, i) => {
      const from = at;
      at += characters.slice(i * length, (i + 1) * length).join('').length;
      return sliceText(part, from, at);
    });
  };
}
