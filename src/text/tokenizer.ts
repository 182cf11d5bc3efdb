// Converts between text and token ids for one model directory. The work is done by tokenizer/pipeline.ts; here it gets the added tokens of
// all files, the bytes of each token, and a form that the rest of the server needs. It never "cleans up" spaces before punctuation, as
// Transformers can: text that the model did not write would be trained wrongly.
import { AppError } from '#domain/errors';
import { readTokenizerFiles, type AddedToken, type TokenizerFiles } from './tokenizer-files.ts';
import { numbered } from './tokenizer/added-token-ids.ts';
import { createPipeline, readModel, type Pipeline, type PipelineToken } from './tokenizer/pipeline.ts';

/** Tokens of a text, and the characters `[begins, ends)` that each stands for, in UTF-16 units. */
export interface PlacedTokens {
  readonly ids: readonly number[];
  readonly begins: readonly number[];
  readonly ends: readonly number[];
}

/** Text of tokens as they arrive: what `push` and `end` return is, joined, what `decode` returns. */
export interface TokenStream {
  readonly push: (id: number) => string;
  readonly end: () => string;
}

export interface Tokenizer {
  /** Largest token id + 1. The model's own vocabulary may be padded beyond it. */
  readonly vocabSize: number;
  /** Maximum characters of text that one token can stand for. */
  readonly tokenCharactersMax: number;
  /** `addSpecialTokens` (default false): tokens that the tokenizer adds to every text, such as a BOS. Chat templates write their own. */
  encode(text: string, options?: { addSpecialTokens?: boolean }): number[];
  /** The same, with the places of the tokens. */
  encodePlaces(text: string, options?: { addSpecialTokens?: boolean }): PlacedTokens;
  /** Invalid UTF-8 becomes U+FFFD. `skipSpecialTokens` (default true). */
  decode(ids: readonly number[], options?: { skipSpecialTokens?: boolean }): string;
  /** `keep`: special tokens to write even so, because a parser of the text needs them. */
  decodeStream(options: { skipSpecialTokens: boolean; keep?: ReadonlySet<number> | undefined }): TokenStream;
  /** Exactly the bytes that the token adds inside a text; may be part of a character. Empty for an unknown id. */
  tokenBytes(this: void, id: number): Uint8Array;
  /** The same as text, for people; incomplete characters become U+FFFD. */
  tokenText(this: void, id: number): string;
  /** As it stands in a text that is encoded: an added token is found by its content, whatever the decoder makes of that. */
  sourceText(this: void, id: number): string;
  tokenId(token: string): number | null;
  /** The only token with these bytes; null if none has them, or several do. */
  tokenOfBytes(bytes: Uint8Array): number | null;
  /** Special tokens are omitted from decoded text unless requested. */
  isSpecial(this: void, id: number): boolean;
}

/** Throws `bad_model_files`. */
export async function readTokenizer(directory: string): Promise<Tokenizer> {
  return createTokenizer(await readTokenizerFiles(directory), directory);
}

export function createTokenizer({ tokenizer, addedTokens }: TokenizerFiles, directory: string): Tokenizer {
  try {
    const model = readModel(tokenizer.model);
    const added = pipelineTokens(addedTokens, model.vocabulary);
    return tokenizerOf(createPipeline(tokenizer, model, added), added);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    throw new AppError('bad_model_files', `Cannot use ${directory}/tokenizer.json: ${cause.message}`, { cause });
  }
}

/** With the flags as the library has them. */
const pipelineTokens = (tokens: readonly AddedToken[], vocabulary: ReadonlyMap<string, number>): PipelineToken[] =>
  numbered(tokens, vocabulary).map((token) => {
    const normalized = typeof token.normalized === 'boolean' ? token.normalized : !token.special;
    return {
      id: token.id,
      content: token.content,
      special: token.special,
      normalized,
      wasNormalized: normalized || token.wasNormalized === true,
      singleWord: token.single_word === true,
      lstrip: token.lstrip === true,
      rstrip: token.rstrip === true,
    };
  });

function tokenizerOf({ encode, vocabulary, decoder, spelled }: Pipeline, added: readonly PipelineToken[]): Tokenizer {
  const addedById = new Map(added.map((token) => [token.id, token]));
  const addedIds = new Map(added.map(({ content, id }) => [content, id]));
  let vocabSize = 0;
  for (const ids of [vocabulary, addedIds]) for (const id of ids.values()) vocabSize = Math.max(vocabSize, id + 1);
  /** What the decoder gets, by id. */
  const spellings = new Array<string | undefined>(vocabSize);
  for (const [token, id] of vocabulary) spellings[id] = token;
  for (const token of added) spellings[token.id] = spelled(token);
  /** The library knows special tokens again by their text, which normalization may have changed. */
  const specials = new Set(added.filter(({ special }) => special).map(({ content }) => content));
  const skipped = new Set(added.filter((token) => specials.has(spelled(token))).map(({ id }) => id));
  const bytes: (Uint8Array | undefined)[] = new Array<Uint8Array | undefined>(vocabSize); // filled as tokens occur

  function tokenBytes(id: number): Uint8Array {
    const spelling = spellings[id];
    return spelling === undefined ? NO_BYTES : (bytes[id] ??= decoder.bytesInside(spelling));
  }

  function decodeStream({ skipSpecialTokens, keep }: Parameters<Tokenizer['decodeStream']>[0]): TokenStream {
    const stream = decoder.begin();
    return {
      push(id) {
        const spelling = spellings[id];
        const isSkipped = skipSpecialTokens && skipped.has(id) && !keep?.has(id);
        return spelling === undefined || isSkipped ? '' : stream.push(spelling);
      },
      end: stream.end,
    };
  }

  let idOfBytes: ReadonlyMap<string, number | null> | null = null; // built on first use: most servers never need it

  return {
    vocabSize,
    // A token's own spelling is no shorter: it has a character for each byte, or for each character.
    tokenCharactersMax: spellings.reduce((most, token = '') => Math.max(most, token.length), 1),
    encode: (text, { addSpecialTokens = false } = {}) => encode(text, addSpecialTokens).ids,
    encodePlaces: (text, { addSpecialTokens = false } = {}) => encode(text, addSpecialTokens),
    decode(tokenIds, { skipSpecialTokens = true } = {}) {
      const { push, end } = decodeStream({ skipSpecialTokens });
      return tokenIds.map(push).join('') + end();
    },
    decodeStream,
    tokenBytes,
    tokenText: (id) => decodeUtf8(tokenBytes(id)),
    sourceText: (id) => addedById.get(id)?.content ?? decodeUtf8(tokenBytes(id)),
    tokenId: (token) => addedIds.get(token) ?? vocabulary.get(token) ?? null,
    tokenOfBytes(wanted) {
      idOfBytes ??= indexBytes(Array.from({ length: vocabSize }, (_, id) => tokenBytes(id)));
      return idOfBytes.get(byteKey(wanted)) ?? null;
    },
    isSpecial: (id) => addedById.get(id)?.special ?? false,
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

const NO_BYTES = new Uint8Array(0);
const decodeUtf8 = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
