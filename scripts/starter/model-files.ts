// The configuration files of the starter model: what it is (config.json), how it is sampled (generation_config.json),
// how text becomes tokens (tokenizer.json, tokenizer_config.json). Hugging Face's layout, so that anything can load it.
import { readFileSync } from 'node:fs';
import type { Encode, Merge } from './byte-pair-encoding.ts';
import { byteAlphabet, createEncoder, WORD_PATTERN } from './byte-pair-encoding.ts';

const VOCAB_SIZE = 2048;
export const ROW_LENGTH = 256;

/** Special tokens never appear in decoded text; the others are part of the model's output. */
const SPECIAL_TOKENS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const OTHER_ADDED_TOKENS = [
  '<tool_call>',
  '</tool_call>',
  '<tools>',
  '</tools>',
  '<tool_response>',
  '</tool_response>',
];
export const ADDED_TOKENS = [...SPECIAL_TOKENS, ...OTHER_ADDED_TOKENS];

export const MERGE_COUNT_MAX = VOCAB_SIZE - 256 - ADDED_TOKENS.length;

export interface Vocabulary {
  /** Bytes, then merges in order. */
  readonly ids: Readonly<Record<string, number>>;
  readonly merges: readonly Merge[];
  /** Right after the merges. */
  readonly added: Readonly<Record<string, number>>;
}

export function vocabularyOf(merges: readonly Merge[]): Vocabulary {
  const symbols = [...byteAlphabet(), ...merges.map(([left, right]) => left + right)];
  const ids = Object.fromEntries(symbols.map((symbol, id) => [symbol, id]));
  return { ids, merges, added: Object.fromEntries(ADDED_TOKENS.map((token, i) => [token, symbols.length + i])) };
}

export function tokenizerJson({ ids, merges, added }: Vocabulary): object {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: Object.entries(added).map(([content, id]) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: SPECIAL_TOKENS.includes(content),
    })),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: WORD_PATTERN }, behavior: 'Isolated', invert: false },
        byteLevel,
      ],
    },
    post_processor: byteLevel,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: ids,
      merges,
    },
  };
}

export function tokenizerConfig(contextLength: number): object {
  return {
    add_prefix_space: false,
    bos_token: null,
    chat_template: readFileSync(new URL('./chat-template.jinja', import.meta.url), 'utf8'),
    clean_up_tokenization_spaces: false,
    eos_token: '<|im_end|>',
    model_max_length: contextLength,
    pad_token: '<|endoftext|>',
    tokenizer_class: 'PreTrainedTokenizerFast',
    unk_token: null,
  };
}

export function modelConfig({ ids, added }: Vocabulary) {
  const layers = 6;
  return {
    architectures: ['Qwen3ForCausalLM'],
    attention_bias: false,
    attention_dropout: 0,
    bos_token_id: null,
    dtype: 'bfloat16',
    eos_token_id: added['<|im_end|>']!,
    head_dim: 32,
    hidden_act: 'silu',
    hidden_size: 192,
    initializer_range: 0.02,
    intermediate_size: 512,
    layer_types: Array.from({ length: layers }, () => 'full_attention'),
    max_position_embeddings: 1024,
    max_window_layers: layers,
    model_type: 'qwen3',
    num_attention_heads: 6,
    num_hidden_layers: layers,
    num_key_value_heads: 2,
    pad_token_id: added['<|endoftext|>']!,
    rms_norm_eps: 1e-6,
    rope_scaling: null,
    rope_theta: 10000,
    sliding_window: null,
    tie_word_embeddings: true,
    torch_dtype: 'bfloat16',
    use_cache: true,
    use_sliding_window: false,
    vocab_size: Object.keys(ids).length + Object.keys(added).length,
  };
}

export function generationConfig({ added }: Vocabulary): object {
  return {
    do_sample: true,
    eos_token_id: [added['<|im_end|>'], added['<|endoftext|>']],
    pad_token_id: added['<|endoftext|>'],
    temperature: 1,
  };
}

/** The vocabulary of a tokenizer.json that tokenizerJson made. */
export function parseVocabulary(json: string): Vocabulary {
  const { model } = JSON.parse(json) as { model: { merges: Merge[] } };
  return vocabularyOf(model.merges);
}

/** Encodes text in which added tokens stand for themselves. */
export function createStarterEncoder(vocabulary: Vocabulary): Encode {
  const encode = createEncoder(vocabulary.ids, vocabulary.merges);
  const cut = new RegExp(`(${ADDED_TOKENS.map((token) => token.replace(/[|/]/g, '\\$&')).join('|')})`);
  return (text) =>
    text.split(cut).flatMap((part) => {
      if (part === '') return [];
      const id = vocabulary.added[part];
      return id === undefined ? encode(part) : [id];
    });
}
