// A tokenizer.json: from text to tokens with their places, as the library `tokenizers` does it, and the decoder. Its truncation and padding
// are left out, as Transformers leaves them out. Knows the file, not the directory that it lies in.
import { alignText, beginOf, endOf, sliceText, type AlignedText } from './aligned-text.ts';
import { createTokenFinder, type FindTokens, type TokenRule } from './added-tokens.ts';
import { readDecoder, type Decoder } from './decoders.ts';
import { fieldsOf, type Fields } from './fields.ts';
import { readBpe } from './models/bpe.ts';
import type { TokenList, TokenModel } from './models/model.ts';
import { readUnigram } from './models/unigram.ts';
import { readWordLevel } from './models/word-level.ts';
import { readWordPiece } from './models/word-piece.ts';
import { readNormalizer, type Normalize } from './normalizers.ts';
import { readPostProcessor, type Encoded } from './post-processors.ts';
import { readPreTokenizer } from './pre-tokenizers.ts';

/** An added token, as the library has it. */
export interface PipelineToken extends TokenRule {
  readonly special: boolean;
  /** Searched for after normalization, and normalized itself. */
  readonly normalized: boolean;
  /** It is, or was before it got other flags: the decoder sees it normalized. */
  readonly wasNormalized: boolean;
}

export interface Pipeline {
  readonly encode: (text: string, addSpecialTokens: boolean) => Encoded;
  /** Token → id, without the added ones. */
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly decoder: Decoder;
  /** What the decoder sees of an added token. */
  readonly spelled: (token: PipelineToken) => string;
}

const MODELS: Readonly<Record<string, (fields: Fields) => TokenModel>> = {
  BPE: readBpe,
  Unigram: readUnigram,
  WordPiece: readWordPiece,
  WordLevel: readWordLevel,
};

export function readModel(value: unknown): TokenModel {
  const fields = fieldsOf(value, 'model');
  const type = fields.type || guessedType(fields);
  if (!Object.hasOwn(MODELS, type))
    throw fields.refuse(`has the type ${JSON.stringify(type)}; known are ${Object.keys(MODELS).join(', ')}`);
  return MODELS[type]!(fields);
}

/** Old files do not say it. */
function guessedType({ raw }: Fields): string {
  if (raw('merges') !== undefined) return 'BPE';
  if (Array.isArray(raw('vocab'))) return 'Unigram';
  return raw('max_input_chars_per_word') === undefined ? 'WordLevel' : 'WordPiece';
}

/** Throws `bad_model_files`. `tokenizer`: the file, `model`: of it, `added`: its added tokens. */
export function createPipeline(
  tokenizer: Readonly<Record<string, unknown>>,
  model: TokenModel,
  added: readonly PipelineToken[],
): Pipeline {
  const normalize = readNormalizer(tokenizer.normalizer);
  const split = readPreTokenizer(tokenizer.pre_tokenizer);
  const postProcess = readPostProcessor(tokenizer.post_processor);
  const decoder = readDecoder(tokenizer.decoder);
  const spelled = ({ content, wasNormalized }: PipelineToken) =>
    wasNormalized ? normalize(alignText(content)).text : content;
  const finders = [false, true].map((normalized) =>
    createTokenFinder(
      added
        .filter((token) => token.normalized === normalized)
        .map((rule) => ({ rule, spelled: normalized ? spelled(rule) : rule.content })),
    ),
  ) as [FindTokens, FindTokens];
  let spellings: ReadonlyMap<number, string> | null = null; // most tokenizers never need it
  const spelling = (id: number) => (spellings ??= invert(model.vocabulary, added)).get(id) ?? '';

  function encode(text: string, addSpecialTokens: boolean): Encoded {
    const encoded: Encoded = { ids: [], begins: [], ends: [], written: new Map() };
    const given = wellFormed(text);
    for (const part of partsOf(alignText(given), finders, normalize)) {
      if (part.id !== null) addToken(encoded, part);
      else for (const word of split(part.text)) if (word.text !== '') addWord(encoded, word, model.tokenize(word.text));
    }
    return postProcess(encoded, { text: given, spelling, addSpecialTokens });
  }
  return { encode, vocabulary: model.vocabulary, decoder, spelled };
}

function invert(vocabulary: ReadonlyMap<string, number>, added: readonly PipelineToken[]): Map<number, string> {
  const spellings = new Map<number, string>();
  for (const [token, id] of vocabulary) spellings.set(id, token);
  for (const { id, content } of added) spellings.set(id, content);
  return spellings;
}

/** Half a surrogate pair is no character: it is U+FFFD, as where text becomes UTF-8. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');

interface Part {
  readonly id: number | null;
  readonly text: AlignedText;
}

function* partsOf(
  whole: AlignedText,
  [before, after]: [FindTokens, FindTokens],
  normalize: Normalize,
): Generator<Part> {
  for (const part of cut(whole, before)) {
    if (part.id !== null) yield part;
    else yield* cut(normalize(part.text), after);
  }
}

const cut = (whole: AlignedText, find: FindTokens): Part[] =>
  find(whole.text).map(({ id, from, to }) => ({ id, text: sliceText(whole, from, to) }));

function addToken({ ids, begins, ends, written }: Encoded, { id, text }: Part): void {
  written.set(ids.length, text.text);
  ids.push(id!);
  begins.push(beginOf(text, 0));
  ends.push(endOf(text, text.text.length - 1));
}

/** Places of tokens in the word are in bytes; a token that ends or begins within a character stands for the whole of it. */
function addWord({ ids, begins, ends, written }: Encoded, word: AlignedText, tokens: TokenList): void {
  const { text } = word;
  let [unit, byte] = [0, 0]; // the same place, at the beginning of a character
  const sizeAt = (at: number): number => {
    const point = text.codePointAt(at)!;
    return point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  };
  const go = (target: number) => {
    while (unit < text.length && byte + sizeAt(unit) <= target) {
      byte += sizeAt(unit);
      unit += sizeAt(unit) === 4 ? 2 : 1;
    }
  };
  for (const [i, text] of tokens.written ?? []) written.set(ids.length + i, text);
  for (const [i, id] of tokens.ids.entries()) {
    if (tokens.begins[i]! < byte) [unit, byte] = [0, 0];
    go(tokens.begins[i]!);
    const begin = beginOf(word, Math.min(unit, text.length - 1));
    go(tokens.ends[i]! - 1); // the character that has its last byte
    ids.push(id);
    begins.push(begin);
    ends.push(endOf(word, Math.min(unit, text.length - 1)));
  }
}
