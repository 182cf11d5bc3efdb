// What Transformers 5 loads where `tokenizer_class` is LlamaTokenizer: of tokenizer.json it takes the vocabulary, the merges, the added tokens
// and the post-processor, and builds the rest anew, so that `▁` stands before the first text only, or before each if `legacy` is true.
// Knows the files' content, not where they lie.
import { isObject } from '#base/is-object';

type Json = Readonly<Record<string, unknown>>;

/** Models that Transformers loads with the whole file, whatever their class is: it knows that of these to be wrong. */
const WITH_THE_FILE = new Set(['granite', 'mistral', 'mixtral', 'olmo2', 'olmo3', 'phi3', 'qwen2']);

/** `config`: tokenizer_config.json; `model`: config.json. */
export function asLlamaClass(tokenizer: Json, config: Json, model: Json): Json {
  const { model: bpe } = tokenizer;
  const name = config.tokenizer_class ?? model.tokenizer_class;
  const isLlama = name === 'LlamaTokenizer' || name === 'LlamaTokenizerFast';
  if (!isLlama || WITH_THE_FILE.has(String(model.model_type)) || !isObject(bpe) || bpe.type !== 'BPE') return tokenizer;
  if (['normalizer', 'pre_tokenizer', 'post_processor', 'decoder'].some((part) => hasByteLevel(tokenizer[part])))
    return tokenizer; // Llama 3's kind
  const addsSpace = config.add_prefix_space !== false;
  const scheme = addsSpace ? (config.legacy === true ? 'always' : 'first') : 'never';
  const ends = addsSpace ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : [];
  return {
    ...tokenizer,
    normalizer: null,
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: scheme, split: false },
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...ends,
      ],
    },
    model: { type: 'BPE', vocab: bpe.vocab, merges: bpe.merges, fuse_unk: true, byte_fallback: true },
  };
}

function hasByteLevel(part: unknown): boolean {
  if (Array.isArray(part)) return part.some(hasByteLevel);
  return isObject(part) && (part.type === 'ByteLevel' || Object.values(part).some(hasByteLevel));
}
