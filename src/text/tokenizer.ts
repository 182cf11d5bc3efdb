// Converts between text and token ids for one model directory. Encoding is @huggingface/tokenizers; decoding is our own, byte by byte, so
// that a stream of tokens and a whole list give the same text. It never "cleans up" spaces before punctuation, as Transformers can:
// text that the model did not write would be trained wrongly.
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { createTokenBytes } from './token-bytes.ts';
import { readTokenizerFiles, type Json, type TokenizerFiles } from './tokenizer-files.ts';

export interface Tokenizer {
  /** Largest token id + 1. The model's own vocabulary may be padded beyond it. */
  readonly vocabSize: number;
  /** Maximum characters of text that one token can stand for. */
  readonly tokenCharactersMax: number;
  /** `addSpecialTokens` (default false): tokens that the tokenizer adds to every text, such as a BOS. Chat templates write their own. */
  encode(text: string, options?: { addSpecialTokens?: boolean }): number[];
  /** Invalid UTF-8 becomes U+FFFD. `skipSpecialTokens` (default true). */
  decode(ids: readonly number[], options?: { skipSpecialTokens?: boolean }): string;
  /** Exactly the bytes that the token adds to a text; may be part of a character. Empty for an unknown id. */
  tokenBytes(this: void, id: number): Uint8Array;
  /** The same as text, for people; incomplete characters become U+FFFD. */
  tokenText(id: number): string;
  tokenId(token: string): number | null;
  /** The only token with these bytes; null if none has them, or several do. */
  tokenOfBytes(bytes: Uint8Array): number | null;
  /** Special tokens are omitted from decoded text unless requested. */
  isSpecial(id: number): boolean;
  /** Spaces that `decode` removes from the start of a text: sentencepiece adds one there. 0 for byte-level BPE. */
  readonly leadingSpaces: number;
}

/** Throws `bad_model_files`. */
export async function readTokenizer(directory: string): Promise<Tokenizer> {
  return createTokenizer(await readTokenizerFiles(directory), directory);
}

export function createTokenizer({ tokenizer, config, addedTokens }: TokenizerFiles, directory: string): Tokenizer {
  requireSupportedSplits(tokenizer.pre_tokenizer, directory);
  const { bytesOf, leadingSpaces } = createTokenBytes(tokenizer);
  const encoder = createEncoder({ ...tokenizer, added_tokens: addedTokens }, config, directory);
  const added = new Map(addedTokens.map((token) => [token.id, token]));
  const spellings = [...encoder.get_vocab().keys(), ...addedTokens.map(({ content }) => content)];
  const vocabSize = 1 + Array.from(encoder.get_vocab().values()).reduce((largest, id) => Math.max(largest, id), -1);
  const bytes: (Uint8Array | undefined)[] = new Array<Uint8Array | undefined>(vocabSize); // filled as tokens occur

  function tokenBytes(id: number): Uint8Array {
    const known = bytes[id];
    if (known) return known;
    const token = encoder.id_to_token(id);
    const addedText = added.get(id)?.content;
    const fresh = addedText !== undefined ? utf8.encode(addedText) : token !== undefined ? bytesOf(token) : NO_BYTES;
    if (id < vocabSize) bytes[id] = fresh; // an unknown id must not grow the table
    return fresh;
  }

  let idOfBytes: ReadonlyMap<string, number | null> | null = null; // built on first use: most servers never need it

  const isSpecial = (id: number) => added.get(id)?.special ?? false;

  return {
    vocabSize,
    // Its own spelling is no shorter: it has a character for each byte, or for each character.
    tokenCharactersMax: spellings.reduce((most, token = '') => Math.max(most, token.length), 1),
    leadingSpaces,
    encode: (text, { addSpecialTokens = false } = {}) =>
      encoder.encode(text, { add_special_tokens: addSpecialTokens }).ids.map((id) => requireId(id, directory)),
    decode(ids, { skipSpecialTokens = true } = {}) {
      const kept = skipSpecialTokens ? ids.filter((id) => !isSpecial(id)) : ids;
      const text = decodeUtf8(Buffer.concat(kept.map(tokenBytes)));
      return leadingSpaces > 0 ? dropLeadingSpaces(text, leadingSpaces) : text;
    },
    tokenBytes,
    tokenText: (id) => decodeUtf8(tokenBytes(id)),
    tokenId: (token) => encoder.token_to_id(token) ?? null,
    tokenOfBytes(wanted) {
      idOfBytes ??= indexBytes(Array.from({ length: vocabSize }, (_, id) => tokenBytes(id)));
      return idOfBytes.get(byteKey(wanted)) ?? null;
    },
    isSpecial,
  };
}

/** Bytes → the id of their only token; null: several tokens have them. */
function indexBytes(tokens: readonly Uint8Array[]): Map<string, number | null> {
  const index = new Map<string, number | null>();
  for (const [id, bytes] of tokens.entries()) {
    const key = byteKey(bytes);
    if (bytes.length > 0) index.set(key, index.has(key) ? null : id);
  }
  return index;
}

const byteKey = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** The part of the library that we use. Its own declarations import without file extensions, which Node's rules leave untyped. */
interface Encoder {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  id_to_token(id: number): string | undefined;
  token_to_id(token: string): number | undefined;
  get_vocab(): Map<string | undefined, number>;
}

function createEncoder(tokenizer: Json, config: Json, directory: string): Encoder {
  const sections = { decoder: null, post_processor: null, pre_tokenizer: null, normalizer: null, ...tokenizer };
  try {
    return new (HuggingFaceTokenizer as new (tokenizer: Json, config: Json) => Encoder)(sections, config);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('bad_model_files', `Cannot use ${directory}/tokenizer.json: ${reason}.`, { cause });
  }
}

/** The library silently treats other behaviours as Isolated, which would give other ids than the model was trained on. */
function requireSupportedSplits(preTokenizer: unknown, directory: string): void {
  if (!isObject(preTokenizer)) return;
  if (Array.isArray(preTokenizer.pretokenizers)) {
    for (const part of preTokenizer.pretokenizers as unknown[]) requireSupportedSplits(part, directory);
  }
  const behavior = preTokenizer.behavior;
  if (preTokenizer.type === 'Split' && behavior !== 'Isolated' && behavior !== 'Removed') {
    const message = `${directory}/tokenizer.json splits with behavior ${JSON.stringify(behavior)}; Isolated and Removed are supported.`;
    throw new AppError('bad_model_files', message);
  }
}

function requireId(id: number | undefined, directory: string): number {
  if (id !== undefined) return id;
  throw new AppError(
    'bad_model_files',
    `The vocabulary of ${directory} does not cover this text and has no unknown token.`,
  );
}

export function dropLeadingSpaces(text: string, atMost: number): string {
  let start = 0;
  while (start < atMost && text[start] === ' ') start++;
  return text.slice(start);
}

const NO_BYTES = new Uint8Array(0);
const utf8 = new TextEncoder();
const decodeUtf8 = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
