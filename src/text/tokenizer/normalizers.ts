// Normalizers of a tokenizer.json: what is changed in a text before it is split. Knows neither splits nor tokens.
import { changeText, prependText, replaceMatches, type AlignedText, type Changes } from './aligned-text.ts';
import { toByteLevel } from './byte-level.ts';
import { flatten, fieldsOf, type Fields } from './fields.ts';
import { laterIn, type LaterKind } from './later-characters.ts';
import { readPattern } from './patterns.ts';
import { readPrecompiled } from './precompiled.ts';
import { normalizeForm } from './unicode-forms.ts';

export type Normalize = (text: AlignedText) => AlignedText;

/** Throws `bad_model_files`. */
export function readNormalizer(value: unknown): Normalize {
  if ((value ?? null) === null) return (text) => text;
  const steps = flatten(fieldsOf(value, 'normalizer'), 'normalizers').map(readOne);
  return (text) => steps.reduce((changed, step) => step(changed), text);
}

function readOne(fields: Fields): Normalize {
  if (!Object.hasOwn(KINDS, fields.type))
    throw fields.refuse(`has the type ${JSON.stringify(fields.type)}; known are ${Object.keys(KINDS).join(', ')}`);
  return KINDS[fields.type]!(fields);
}

const KINDS: Readonly<Record<string, (fields: Fields) => Normalize>> = {
  NFC: () => (text) => normalizeForm(text, 'NFC'),
  NFD: () => (text) => normalizeForm(text, 'NFD'),
  NFKC: () => (text) => normalizeForm(text, 'NFKC'),
  NFKD: () => (text) => normalizeForm(text, 'NFKD'),
  Lowercase: () => lowercase,
  StripAccents: () => (text) => filter(text, (character) => !isMark(character)),
  ByteLevel: () => toByteLevel,
  Nmt: () => nmt,
  Strip: readStrip,
  Prepend: readPrepend,
  Replace: readReplace,
  BertNormalizer: readBert,
  Precompiled: readPrecompiledMap,
};

function readPrepend(fields: Fields): Normalize {
  const prepend = fields.text('prepend');
  return (text) => prependText(text, prepend);
}

function readReplace(fields: Fields): Normalize {
  const find = readPattern(fields);
  const content = fields.text('content');
  return (text) => (text.text === '' ? text : replaceMatches(text, find(text.text), content));
}

function readPrecompiledMap(fields: Fields): Normalize {
  const precompiled = readPrecompiled(Buffer.from(fields.text('precompiled_charsmap'), 'base64'));
  if (!precompiled) throw fields.refuse('has a precompiled_charsmap that cannot be read');
  return precompiled.normalize;
}

/** A class of characters as the library knows it. */
function classOf(expression: RegExp, kind: LaterKind): (character: string) => boolean {
  const isLater = laterIn(kind);
  return (character) => expression.test(character) && !isLater(character.codePointAt(0)!);
}

const isMark = classOf(/[\p{M}\u1cf2\u1cf3]/u, 'marks');
const isMarkWithoutWidth = classOf(/[\p{Mn}\u1734\u{1171e}]/u, 'marks without width');
const isControl = classOf(/[\p{Cc}\p{Cf}\p{Co}]/u, 'controls');

const WHITE_SPACE = /^\p{White_Space}$/u;

function readStrip(fields: Fields): Normalize {
  const [left, right] = [fields.flag('strip_left'), fields.flag('strip_right')];
  if (left && right) return (text) => strip(text, true, true);
  return (text) => (left || right ? strip(text, left, right) : text);
}

function strip(from: AlignedText, left: boolean, right: boolean): AlignedText {
  const characters = Array.from(from.text);
  let [first, end] = [0, characters.length];
  while (left && first < end && WHITE_SPACE.test(characters[first]!)) first++;
  while (right && end > first && WHITE_SPACE.test(characters[end - 1]!)) end--;
  if (first === 0 && end === characters.length) return from;
  const kept = characters.slice(first, end);
  return changeText(from, { characters: kept, changes: kept.map(() => 0) }, first);
}

function lowercase(from: AlignedText): AlignedText {
  if (from.text.toLowerCase() === from.text) return from;
  return mapCharacters(from, (character) => character.toLowerCase());
}

/** Each character becomes others; the first replaces it. */
function mapCharacters(from: AlignedText, map: (character: string) => string): AlignedText {
  const changes: Changes = { characters: [], changes: [] };
  for (const character of from.text)
    for (const [i, written] of Array.from(map(character)).entries()) {
      changes.characters.push(written);
      changes.changes.push(i === 0 ? 0 : 1);
    }
  return changeText(from, changes);
}

function filter(from: AlignedText, keep: (character: string) => boolean): AlignedText {
  const changes: Changes = { characters: [], changes: [] };
  let removed = 0; // at the beginning
  for (const character of from.text) {
    if (keep(character)) {
      changes.characters.push(character);
      changes.changes.push(0);
    } else if (changes.changes.length === 0) removed++;
    else changes.changes[changes.changes.length - 1]!--;
  }
  return removed === 0 && changes.changes.every((change) => change === 0) ? from : changeText(from, changes, removed);
}

/** As SentencePiece's nmt_nfkc begins. */
const NMT_REMOVED = /[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]/;
const NMT_SPACES = /[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/;

const nmt: Normalize = (text) =>
  mapCharacters(
    filter(text, (character) => !NMT_REMOVED.test(character)),
    (character) => (NMT_SPACES.test(character) ? ' ' : character),
  );

function readBert(fields: Fields): Normalize {
  const [clean, chinese, lower] = ['clean_text', 'handle_chinese_chars', 'lowercase'].map((name) => fields.flag(name));
  const stripAccents = fields.optional('strip_accents', fields.flag) ?? lower!;
  return (text) => {
    if (clean)
      text = mapCharacters(filter(text, isKept), (character) => (WHITE_SPACE.test(character) ? ' ' : character));
    if (chinese) text = spaceChinese(text);
    if (stripAccents) text = filter(normalizeForm(text, 'NFD'), (character) => !isMarkWithoutWidth(character));
    return lower ? lowercase(text) : text;
  };
}

/** Control characters are removed, but for those that are spaces. */
const isKept = (character: string): boolean =>
  /[\t\n\r]/.test(character) || !(/[\0\ufffd]/.test(character) || isControl(character));

const CHINESE: readonly (readonly [number, number])[] = [
  [0x4e00, 0x9fff],
  [0x3400, 0x4dbf],
  [0x20000, 0x2a6df],
  [0x2a700, 0x2b73f],
  [0x2b740, 0x2b81f],
  [0x2b920, 0x2ceaf],
  [0xf900, 0xfaff],
  [0x2f800, 0x2fa1f],
];

function spaceChinese(from: AlignedText): AlignedText {
  const isChinese = (character: string) => {
    const point = character.codePointAt(0)!;
    return CHINESE.some(([first, last]) => point >= first && point <= last);
  };
  return mapCharacters(from, (character) => (isChinese(character) ? ` ${character} ` : character));
}
