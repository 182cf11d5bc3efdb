// The tokenizer in a GGUF file's metadata → tokenizer.json, tokenizer_config.json and generation_config.json. Two kinds are supported: byte-level
// BPE (`gpt2`, with merges) and SentencePiece's BPE (`llama`, with scores).
import type { Metadata } from './metadata.ts';
import { PRE_TOKENIZERS } from './pre-tokenizers.ts';

/** Token types of llama.h. */
export const TOKEN_TYPE = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

export interface TokenizerJson {
  readonly tokenizer: Record<string, unknown>;
  readonly tokenizerConfig: Record<string, unknown>;
  readonly generationConfig: Record<string, unknown>;
}

interface Vocabulary {
  /** By id; tokens that only pad the embedding are left out. */
  readonly tokens: readonly string[];
  readonly types: readonly number[];
}

export function tokenizerOf(metadata: Metadata): TokenizerJson {
  const vocabulary = readVocabulary(metadata);
  const kind = metadata.text('tokenizer.ggml.model');
  if (kind !== 'gpt2' && kind !== 'llama')
    throw metadata.refuse(
      `its tokenizer ${JSON.stringify(kind)} is not supported; gpt2 (byte-level BPE) and llama (SentencePiece) are`,
    );
  const { addsBos, ...sections } =
    kind === 'gpt2' ? byteLevelBpe(metadata, vocabulary) : sentencePiece(metadata, vocabulary);
  const isPhi3 = kind === 'llama' && metadata.architecture === 'phi3';
  const { tokens, types } = vocabulary;
  const named = namedTokens(metadata, tokens);
  const bos = metadata.number('tokenizer.ggml.bos_token_id');
  const takesSpace = (content: string) => isPhi3 && !PHI3_PLAIN.includes(content);
  const begins = (metadata.flag('tokenizer.ggml.add_bos_token') ?? addsBos) && bos !== null;
  return {
    tokenizer: {
      version: '1.0',
      added_tokens: tokens.flatMap((content, id) =>
        isAdded(types[id]) ? [addedToken(id, content, types[id]!, takesSpace(content))] : [],
      ),
      post_processor: begins ? beginsWith(tokens[bos]!, bos) : null,
      ...sections,
    },
    tokenizerConfig: {
      ...named,
      ...chatTemplates(metadata),
      add_bos_token: begins,
      clean_up_tokenization_spaces: false,
      tokenizer_class: 'PreTrainedTokenizerFast',
    },
    generationConfig: { eos_token_id: endsOfTurn(metadata, vocabulary), ...sampling(metadata) },
  };
}

function readVocabulary(metadata: Metadata): Vocabulary {
  const tokens = metadata.texts('tokenizer.ggml.tokens');
  if (!tokens?.length) throw metadata.refuse('its metadata has no tokenizer.ggml.tokens');
  const types = metadata.numbers('tokenizer.ggml.token_type') ?? tokens.map(() => TOKEN_TYPE.normal);
  let length = tokens.length;
  while (length > 0 && types[length - 1] === TOKEN_TYPE.unused && /^\[PAD\d+\]$/.test(tokens[length - 1]!)) length--;
  return { tokens: tokens.slice(0, length), types: types.slice(0, length) };
}

/** The file has no flags of tokens. As llama.cpp knows too, those of Phi-3 take the white space behind them, but for these. */
const PHI3_PLAIN = ['<unk>', '<s>', '<|endoftext|>'];

const isAdded = (type: number | undefined): boolean =>
  type === TOKEN_TYPE.control || type === TOKEN_TYPE.userDefined || type === TOKEN_TYPE.unknown;

const addedToken = (id: number, content: string, type: number, takesSpace: boolean) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: takesSpace,
  normalized: false,
  special: type !== TOKEN_TYPE.userDefined,
});

/**
 * Token → id, added tokens too: the library `tokenizers` gives one that is not here the next id after the vocabulary, whatever id its
 * entry states.
 */
const vocabOf = ({ tokens }: Vocabulary): Record<string, number> =>
  Object.fromEntries(tokens.map((token, id) => [token, id]));

function byteLevelBpe(metadata: Metadata, vocabulary: Vocabulary) {
  const name = metadata.text('tokenizer.ggml.pre');
  if (name === null || name === 'default')
    throw metadata.refuse(
      'its metadata has no pre-tokenizer (tokenizer.ggml.pre). Convert the model again with a current convert_hf_to_gguf.py of llama.cpp',
    );
  if (!Object.hasOwn(PRE_TOKENIZERS, name))
    throw metadata.refuse(
      `its pre-tokenizer ${JSON.stringify(name)} is not supported; supported are ${Object.keys(PRE_TOKENIZERS).join(', ')}`,
    );
  const merges = metadata.texts('tokenizer.ggml.merges');
  if (merges === null) throw metadata.refuse('its metadata has no tokenizer.ggml.merges');
  const { normalizer, splits, ignoreMerges, addsBos } = PRE_TOKENIZERS[name]!;
  return {
    normalizer: normalizer === null ? null : { type: normalizer },
    pre_tokenizer: { type: 'Sequence', pretokenizers: splits },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      ...BPE,
      ignore_merges: ignoreMerges,
      vocab: vocabOf(vocabulary),
      merges,
    },
    addsBos,
  };
}

const BPE = {
  type: 'BPE',
  dropout: null,
  unk_token: null as string | null,
  continuing_subword_prefix: null,
  end_of_word_suffix: null,
  fuse_unk: false,
  byte_fallback: false,
  ignore_merges: false,
};

const SPACE = '▁';

function sentencePiece(metadata: Metadata, vocabulary: Vocabulary) {
  const scores = metadata.numbers('tokenizer.ggml.scores');
  if (scores === null) throw metadata.refuse('its metadata has no tokenizer.ggml.scores');
  const prefix = metadata.flag('tokenizer.ggml.add_space_prefix') ?? true;
  const unknown = vocabulary.types.indexOf(TOKEN_TYPE.unknown);
  const replace = { type: 'Replace', pattern: { String: ' ' }, content: SPACE };
  return {
    normalizer: prefix ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: SPACE }, replace] } : replace,
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: SPACE }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(prefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      ...BPE,
      unk_token: unknown < 0 ? null : vocabulary.tokens[unknown]!,
      fuse_unk: true,
      byte_fallback: true,
      vocab: vocabOf(vocabulary),
      merges: mergesOf(vocabulary, scores),
    },
    addsBos: true,
  };
}

/** Every pair that makes a token is a merge, the best score first: SentencePiece's BPE, written as merges as in Transformers. */
function mergesOf({ tokens, types }: Vocabulary, scores: readonly number[]): [string, string][] {
  const idOf = new Map(tokens.flatMap((token, id) => (types[id] === TOKEN_TYPE.normal ? [[token, id] as const] : [])));
  const ids = [...idOf.values()].sort((a, b) => scores[b]! - scores[a]! || a - b);
  return ids.flatMap((id) => {
    const characters = [...tokens[id]!];
    const halves = Array.from({ length: characters.length - 1 }, (_, at): [string, string] => [
      characters.slice(0, at + 1).join(''),
      characters.slice(at + 1).join(''),
    ]).filter(([left, right]) => idOf.has(left) && idOf.has(right));
    return halves.sort((a, b) => idOf.get(a[0])! - idOf.get(b[0])! || idOf.get(a[1])! - idOf.get(b[1])!);
  });
}

const beginsWith = (token: string, id: number) => ({
  type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: token, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
  pair: [
    { SpecialToken: { id: token, type_id: 0 } },
    { Sequence: { id: 'A', type_id: 0 } },
    { Sequence: { id: 'B', type_id: 1 } },
  ],
  special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
});

function namedTokens(metadata: Metadata, tokens: readonly string[]): Record<string, string> {
  const keys = { bos_token: 'bos', eos_token: 'eos', unk_token: 'unknown', pad_token: 'padding' };
  return Object.fromEntries(
    Object.entries(keys).flatMap(([name, key]) => {
      const token = tokens[metadata.number(`tokenizer.ggml.${key}_token_id`) ?? -1];
      return token === undefined ? [] : [[name, token]];
    }),
  );
}

function chatTemplates(metadata: Metadata): Record<string, unknown> {
  const template = metadata.text('tokenizer.chat_template');
  if (template === null) return {};
  const named = metadata.keys().flatMap((key) => {
    const name = /^tokenizer\.chat_template\.(.+)$/.exec(key)?.[1];
    return name === undefined ? [] : [{ name, template: metadata.text(key) }];
  });
  return { chat_template: named.length === 0 ? template : [{ name: 'default', template }, ...named] };
}

/** llama.cpp also ends at these tokens, whatever the file names. */
const ENDS = ['<|eot_id|>', '<|im_end|>', '<|end|>', '<end_of_turn>', '<|endoftext|>', '<|end_of_text|>', '<|eom_id|>'];

function endsOfTurn(metadata: Metadata, { tokens, types }: Vocabulary): number[] {
  const named = ['eos', 'eot', 'eom'].map((key) => metadata.number(`tokenizer.ggml.${key}_token_id`));
  const known = ENDS.map((token) => tokens.indexOf(token)).filter((id) => types[id] === TOKEN_TYPE.control);
  return [...new Set([...named, ...known].filter((id) => id !== null))];
}

/** Of a float of 32 bits: 0.7 is 0.7 again. */
const FLOAT_DIGITS = 7;

function sampling(metadata: Metadata): Record<string, number> {
  const keys = {
    temperature: 'temp',
    top_p: 'top_p',
    top_k: 'top_k',
    min_p: 'min_p',
    repetition_penalty: 'penalty_repeat',
  };
  return Object.fromEntries(
    Object.entries(keys).flatMap(([name, key]) => {
      const value = metadata.number(`general.sampling.${key}`);
      return value === null ? [] : [[name, Number(value.toPrecision(FLOAT_DIGITS))]];
    }),
  );
}
