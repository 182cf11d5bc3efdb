// Byte-pair encoding: the characters of a part are joined by the merges, the one with the lowest rank first. Words that were seen are
// remembered.
import { isObject } from '#base/is-object';
import type { Fields } from '../fields.ts';
import { mergeSymbols, type Merges } from './merge-symbols.ts';
import type { TokenList, TokenModel } from './model.ts';
import { createPairTable } from './pair-table.ts';
import { byteIds, readVocabulary, uncovered } from './vocabulary.ts';

/** Words that are remembered, and their length: as in the library. */
const [WORDS_MAX, WORD_MAX] = [10_000, 256];

export function readBpe(fields: Fields): TokenModel {
  const dropout = fields.raw('dropout') ?? 0;
  if (dropout !== 0) throw fields.refuse('has a dropout, with which a text would have other tokens each time');
  const vocabulary = readVocabulary(fields);
  const options = readOptions(fields);
  const merges = readMerges(fields, vocabulary, options.prefix?.length ?? 0);
  const split = createSplit(vocabulary, options);
  const words = new Map<string, TokenList>();

  function tokenize(part: string): TokenList {
    const whole = options.ignoreMerges ? vocabulary.get(part) : undefined;
    if (whole !== undefined) return { ids: [whole], begins: [0], ends: [Buffer.byteLength(part)] };
    const known = words.get(part);
    if (known) return known;
    const tokens = listOf(mergeSymbols(split(part), merges));
    if (part.length < WORD_MAX) {
      if (words.size >= WORDS_MAX) words.clear();
      words.set(part, tokens);
    }
    return tokens;
  }
  return { vocabulary, tokenize };
}

/** Symbols of a word, with their length in bytes. */
export interface Symbols {
  readonly ids: number[];
  readonly lengths: number[];
}

function listOf({ ids, lengths }: Symbols): TokenList {
  const [begins, ends]: [number[], number[]] = [[], []];
  let at = 0;
  for (const length of lengths) {
    begins.push(at);
    at += length;
    ends.push(at);
  }
  return { ids, begins, ends };
}

function readOptions(fields: Fields) {
  const isOn = (name: string) => fields.optional(name, fields.flag) ?? false;
  const options = {
    unknown: fields.optional('unk_token', fields.text),
    prefix: fields.optional('continuing_subword_prefix', fields.text),
    suffix: fields.optional('end_of_word_suffix', fields.text),
    fuseUnknown: isOn('fuse_unk'),
    byteFallback: isOn('byte_fallback'),
    ignoreMerges: isOn('ignore_merges'),
  };
  if (options.byteFallback && (options.prefix || options.suffix))
    throw fields.refuse(
      'has byte_fallback beside continuing_subword_prefix or end_of_word_suffix, which is not supported',
    );
  return options;
}

function readMerges(fields: Fields, vocabulary: ReadonlyMap<string, number>, prefixLength: number): Merges {
  const list = fields.raw('merges');
  if (!Array.isArray(list)) throw fields.refuse('must have merges, a list');
  const pairs = (list as unknown[]).filter((merge) => typeof merge !== 'string' || !merge.startsWith('#version'));
  const ranks = createPairTable(pairs.length);
  const made = new Int32Array(pairs.length);
  for (const [rank, merge] of pairs.entries()) {
    const [first, second] = pairOf(merge) ?? [];
    if (first === undefined || second === undefined)
      throw fields.refuse(`must have merges of two tokens, but number ${rank + 1} is ${JSON.stringify(merge)}`);
    const ids = [first, second, first + second.slice(prefixLength)].map((token) => vocabulary.get(token));
    if (ids.includes(undefined))
      throw fields.refuse(`has the merge ${JSON.stringify(merge)} of tokens that are not in its vocab`);
    ranks.set(ids[0]!, ids[1]!, rank);
    made[rank] = ids[2]!;
  }
  return { ranks, made };
}

function pairOf(merge: unknown): readonly string[] | null {
  const parts: readonly unknown[] | null =
    typeof merge === 'string' ? merge.split(' ') : Array.isArray(merge) ? merge : null;
  if (parts?.length !== 2 || isObject(parts[0])) return null;
  return parts.every((part) => typeof part === 'string') ? parts : null;
}

/** A word's characters as symbols. */
function createSplit(
  vocabulary: ReadonlyMap<string, number>,
  { unknown, prefix, suffix, fuseUnknown, byteFallback }: ReturnType<typeof readOptions>,
): (word: string) => Symbols {
  const bytes = byteFallback ? byteIds(vocabulary) : null;
  return (word) => {
    const symbols: Symbols = { ids: [], lengths: [] };
    const add = (id: number, length: number) => {
      symbols.ids.push(id);
      symbols.lengths.push(length);
    };
    let unread = 0; // bytes of unknown characters that have no symbol yet
    const flush = () => {
      if (unread > 0) add(unknownId(vocabulary, unknown!), unread);
      unread = 0;
    };
    for (let at = 0; at < word.length;) {
      const next = at + (word.codePointAt(at)! > 0xffff ? 2 : 1);
      const character = word.slice(at, next);
      const spelled = (at > 0 && prefix ? prefix : '') + character + (next === word.length && suffix ? suffix : '');
      const id = vocabulary.get(spelled);
      if (id !== undefined) {
        flush();
        add(id, byteLength(character));
      } else if (!(bytes && addBytes(character, bytes, add)) && unknown !== null) {
        if (!fuseUnknown) flush();
        unread += byteLength(character);
      }
      at = next;
    }
    flush();
    return symbols;
  };
}

/** Whether there is a token for each byte. */
function addBytes(character: string, bytes: readonly (number | null)[], add: (id: number, length: number) => void) {
  const ids = Array.from(Buffer.from(character), (byte) => bytes[byte] ?? null);
  if (ids.includes(null)) return false;
  for (const id of ids) add(id!, 1);
  return true;
}

function unknownId(vocabulary: ReadonlyMap<string, number>, unknown: string): number {
  const id = vocabulary.get(unknown);
  if (id === undefined) throw uncovered();
  return id;
}

function byteLength(character: string): number {
  const point = character.codePointAt(0)!;
  return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
}
