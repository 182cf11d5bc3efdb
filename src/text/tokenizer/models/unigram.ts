// The Unigram model of SentencePiece: of all ways to cut a part into tokens, the one with the highest sum of scores. Characters that no token
// covers are joined to one unknown token, or become bytes.
import { AppError } from '#domain/errors';
import type { Fields } from '../fields.ts';
import type { TokenList, TokenModel } from './model.ts';
import { createPairTable } from './pair-table.ts';
import { byteIds, uncovered } from './vocabulary.ts';

/** How much worse an unknown character is than the worst token. */
const UNKNOWN_PENALTY = 10;

export function readUnigram(fields: Fields): TokenModel {
  const { tokens, scores } = readTokens(fields);
  const unknown = fields.optional('unk_id', fields.count);
  if (unknown !== null && unknown >= tokens.length) throw fields.refuse('has an unk_id that is not in its vocab');
  const vocabulary = new Map(tokens.map((token, id) => [token, id]));
  const bytes = fields.flag('byte_fallback', false) ? byteIds(vocabulary) : null;
  const model = { trie: createTrie(vocabulary), scores, unknown, unknownScore: lowest(scores) - UNKNOWN_PENALTY };

  function tokenize(part: string): TokenList {
    const list = {
      ids: [] as number[],
      begins: [] as number[],
      ends: [] as number[],
      written: new Map<number, string>(),
    };
    let at = 0;
    for (const piece of piecesOf(part, bestPath(part, model), unknown)) {
      const end = at + Buffer.byteLength(piece);
      const id = vocabulary.get(piece);
      for (const each of id === undefined ? unknownIds(piece, bytes, unknown) : [id]) {
        if (each === unknown) list.written.set(list.ids.length, piece);
        list.ids.push(each);
        list.begins.push(at);
        list.ends.push(end);
      }
      at = end;
    }
    return list;
  }
  return { vocabulary, tokenize };
}

function unknownIds(piece: string, bytes: readonly (number | null)[] | null, unknown: number | null): number[] {
  const ids = bytes && Array.from(Buffer.from(piece), (byte) => bytes[byte] ?? null);
  if (ids?.every((id) => id !== null)) return ids;
  if (unknown === null) throw uncovered();
  return [unknown];
}

function readTokens(fields: Fields): { tokens: string[]; scores: Float64Array } {
  const list = fields.raw('vocab');
  if (!Array.isArray(list)) throw fields.refuse('must have vocab, a list of tokens and their scores');
  const scores = new Float64Array(list.length);
  const tokens = (list as unknown[]).map((entry, id) => {
    const [token, score] = Array.isArray(entry) ? (entry as unknown[]) : [];
    if (typeof token !== 'string' || typeof score !== 'number')
      throw fields.refuse(`must have a token and its score at vocab[${id}], got ${JSON.stringify(entry)}`);
    scores[id] = score;
    return token;
  });
  return { tokens, scores };
}

const lowest = (scores: Float64Array): number => scores.reduce((least, score) => Math.min(least, score), Infinity);

interface Trie {
  /** The branch for the next unit; -1: no token goes on so. The root is 0. */
  readonly next: (branch: number, unit: number) => number;
  /** The token that ends at a branch; -1: none. */
  readonly tokens: Int32Array;
}

function createTrie(vocabulary: ReadonlyMap<string, number>): Trie {
  let units = 0;
  for (const token of vocabulary.keys()) units += token.length;
  const branches = createPairTable(units);
  const tokens = new Int32Array(units + 1).fill(-1);
  let count = 1;
  for (const [token, id] of vocabulary) {
    let branch = 0;
    for (let i = 0; i < token.length; i++) {
      const known = branches.get(branch, token.charCodeAt(i));
      if (known < 0) branches.set(branch, token.charCodeAt(i), count);
      branch = known < 0 ? count++ : known;
    }
    if (branch > 0) tokens[branch] = id;
  }
  return { next: branches.get, tokens };
}

interface Scored {
  readonly trie: Trie;
  readonly scores: Float64Array;
  readonly unknown: number | null;
  readonly unknownScore: number;
}

/** For each end of a piece in the best way to cut: where that piece begins, and its token. */
interface Path {
  readonly begins: Int32Array;
  readonly tokens: Int32Array;
}

function bestPath(part: string, { trie, scores, unknown, unknownScore }: Scored): Path {
  const begins = new Int32Array(part.length + 1).fill(-1);
  const tokens = new Int32Array(part.length + 1);
  const best = new Float64Array(part.length + 1);
  const offer = (from: number, to: number, score: number, token: number) => {
    const sum = score + best[from]!;
    if (begins[to] !== -1 && sum <= best[to]!) return;
    [best[to], begins[to], tokens[to]] = [sum, from, token];
  };
  for (let from = 0; from < part.length;) {
    const next = from + (part.codePointAt(from)! > 0xffff ? 2 : 1);
    let isKnown = false;
    let branch = 0;
    for (let at = from; at < part.length;) {
      branch = trie.next(branch, part.charCodeAt(at++));
      if (branch < 0) break;
      const token = trie.tokens[branch]!;
      if (token < 0) continue;
      offer(from, at, scores[token]!, token);
      isKnown ||= at === next;
    }
    if (!isKnown && unknown === null) throw uncovered();
    if (!isKnown) offer(from, next, unknownScore, unknown!);
    from = next;
  }
  return { begins, tokens };
}

/** Unknown characters beside each other are one piece. */
function piecesOf(part: string, { begins, tokens }: Path, unknown: number | null): string[] {
  const pieces: string[] = [];
  let unknownEnd = -1;
  for (let end = part.length; end > 0;) {
    const begin = begins[end]!;
    if (begin < 0) throw new AppError('internal', 'A text has no way to be cut into tokens.');
    const isUnknown = tokens[end] === unknown;
    if (isUnknown && unknownEnd < 0) unknownEnd = end;
    if (!isUnknown && unknownEnd >= 0) {
      pieces.push(part.slice(end, unknownEnd));
      unknownEnd = -1;
    }
    if (!isUnknown) pieces.push(part.slice(begin, end));
    end = begin;
  }
  if (unknownEnd >= 0) pieces.push(part.slice(0, unknownEnd));
  return pieces.reverse();
}
