// What tokenizer classes of Transformers 5 make of a tokenizer.json: of it they take the vocabulary, the merges and the post-processor, and build
// the rest anew. Knows each class, and not which of them a model has.
import { AppError } from '#domain/errors';
import { isObject } from '#base/is-object';
import type { AddedToken } from './added-token-ids.ts';

type Json = Readonly<Record<string, unknown>>;

export interface RebuiltClass {
  /** Its named tokens, where no file names one or says that there is none. */
  readonly named: Json;
  /** Parts of the tokenizer.json. `config`: tokenizer_config.json; `unknown`: the unk_token. */
  readonly parts: (config: Json, unknown: unknown) => Json;
  /** The post-processor; absent: the file's. */
  readonly processor?: 'none' | 'bos';
  /** It adds the named tokens once more: as special tokens without other flags, or with those that they have. */
  readonly namesAgain?: 'plain' | 'flagged';
}

const END_OF_TEXT = '<|endoftext|>';
const LLAMA_TOKENS = { unk_token: '<unk>', bos_token: '<s>', eos_token: '</s>' };
const FILL_TOKENS = {
  prefix_token: '▁<PRE>',
  middle_token: '▁<MID>',
  suffix_token: '▁<SUF>',
  eot_token: '▁<EOT>',
  fill_token: '<FILL_ME>',
};

const qwen = (letters: string, others: string): string =>
  String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?${letters}+|\p{N}| ?[^\s${others}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const byteLevel = (addsSpace: unknown, usesRegex: boolean) => ({
  type: 'ByteLevel',
  add_prefix_space: Boolean(addsSpace),
  trim_offsets: true,
  use_regex: usesRegex,
});
const sequence = (kind: 'pretokenizers' | 'decoders', ...parts: Json[]) => ({ type: 'Sequence', [kind]: parts });
const NFC = { type: 'NFC' };
const BYTES = { normalizer: null, decoder: byteLevel(true, true), model: {} };
const WORDS = [{ type: 'Replace', pattern: { String: '▁' }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }];
const STRIP = { type: 'Strip', content: ' ', start: 1, stop: 0 };
const metaspace = (scheme: string) => ({
  type: 'Metaspace',
  replacement: '▁',
  prepend_scheme: scheme,
  split: false,
});

const qwenParts =
  (regex: string): RebuiltClass['parts'] =>
  ({ add_prefix_space: addsSpace }) => ({
    ...BYTES,
    normalizer: NFC,
    pre_tokenizer: sequence(
      'pretokenizers',
      { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false },
      byteLevel(addsSpace, false),
    ),
  });

export const REBUILT: Readonly<Record<string, RebuiltClass>> = {
  LlamaTokenizer: {
    named: LLAMA_TOKENS,
    parts({ add_prefix_space: addsSpace, legacy }) {
      const adds = addsSpace === undefined || addsSpace === null || Boolean(addsSpace);
      return {
        normalizer: null,
        pre_tokenizer: metaspace(adds ? (legacy === true ? 'always' : 'first') : 'never'),
        decoder: sequence('decoders', ...WORDS, ...(adds ? [STRIP] : [])),
        model: { fuse_unk: true, byte_fallback: true },
      };
    },
  },
  CodeLlamaTokenizer: {
    named: { ...LLAMA_TOKENS, ...FILL_TOKENS },
    processor: 'bos',
    parts: ({ add_prefix_space: addsSpace }, unknown) => ({
      normalizer: null,
      pre_tokenizer: metaspace(addsSpace === false ? 'never' : 'first'),
      decoder: sequence('decoders', ...WORDS, STRIP),
      model: { fuse_unk: true, byte_fallback: true, unk_token: unknown },
    }),
  },
  GemmaTokenizer: {
    named: {
      unk_token: '<unk>',
      bos_token: '<bos>',
      eos_token: '<eos>',
      pad_token: '<pad>',
      mask_token: '<mask>',
    },
    parts: (_, unknown) => ({
      normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
      pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
      decoder: sequence('decoders', ...WORDS),
      model: { fuse_unk: true, byte_fallback: true, unk_token: unknown },
    }),
  },
  GPT2Tokenizer: {
    named: { unk_token: END_OF_TEXT, bos_token: END_OF_TEXT, eos_token: END_OF_TEXT },
    parts: ({ add_prefix_space: addsSpace }) => ({ ...BYTES, pre_tokenizer: byteLevel(addsSpace, true) }),
  },
  GPTNeoXTokenizer: {
    named: { unk_token: END_OF_TEXT, bos_token: END_OF_TEXT, eos_token: END_OF_TEXT, pad_token: '<|padding|>' },
    processor: 'none',
    parts: ({ add_prefix_space: addsSpace }) => ({
      ...BYTES,
      normalizer: NFC,
      pre_tokenizer: byteLevel(addsSpace, true),
    }),
  },
  Qwen2Tokenizer: {
    named: { unk_token: END_OF_TEXT, eos_token: END_OF_TEXT, pad_token: END_OF_TEXT },
    namesAgain: 'plain',
    parts: qwenParts(qwen(String.raw`\p{L}`, String.raw`\p{L}`)),
  },
  Qwen3_5Tokenizer: {
    named: { unk_token: END_OF_TEXT, eos_token: END_OF_TEXT, pad_token: END_OF_TEXT },
    parts: qwenParts(qwen(String.raw`[\p{L}\p{M}]`, String.raw`\p{L}\p{M}`)),
  },
  CohereTokenizer: {
    named: {
      unk_token: '<UNK>',
      bos_token: '<BOS_TOKEN>',
      eos_token: '<|END_OF_TURN_TOKEN|>',
      pad_token: '<PAD>',
      cls_token: '<CLS>',
      sep_token: '<SEP>',
      mask_token: '<MASK_TOKEN>',
    },
    namesAgain: 'flagged',
    parts: ({ add_prefix_space: addsSpace }) => ({
      ...BYTES,
      normalizer: NFC,
      pre_tokenizer: sequence('pretokenizers', { type: 'Digits', individual_digits: true }, byteLevel(addsSpace, true)),
    }),
  },
};

export interface TokensOfClass {
  readonly named: ReadonlyMap<string, string>;
  readonly addedTokens: readonly AddedToken[];
}

/** The tokenizer.json as the class of this name makes it. Throws `bad_model_files`. */
export function rebuilt(name: string, tokenizer: Json, config: Json, { named, addedTokens }: TokensOfClass): Json {
  const { model } = tokenizer;
  if (!isObject(model) || !isObject(model.vocab) || !Array.isArray(model.merges))
    throw new AppError(
      'bad_model_files',
      `The tokenizer_class ${name} makes a BPE of tokenizer.json, whose model has no merges. If tokenizer.json is what the model was trained with, set tokenizer_class in tokenizer_config.json to PreTrainedTokenizerFast.`,
    );
  const { parts, processor } = REBUILT[name]!;
  const { model: flags, ...others } = parts(config, named.get('unk_token') ?? 'None');
  const first = processor === 'bos' ? addedTokens.find(({ content }) => content === named.get('bos_token')) : undefined;
  return {
    ...tokenizer,
    ...(processor && { post_processor: first ? beginsWith(first) : null }),
    ...others,
    model: { type: 'BPE', vocab: model.vocab, merges: model.merges, ...(flags as Json) },
  };
}

const beginsWith = ({ content, id }: AddedToken): Json => ({
  type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: content, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
  pair: [],
  special_tokens: { [content]: { id: content, ids: [id], tokens: [content] } },
});
