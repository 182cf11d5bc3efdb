// How text is split before merges, by llama.cpp's names (`tokenizer.ggml.pre`): the matching parts of tokenizer.json.
// Unknown names are refused, because another split produces other tokens than the model was trained on.

export interface PreTokenizer {
  readonly normalizer: 'NFC' | null;
  readonly splits: readonly object[];
  /** A piece that is a token as a whole becomes that token. */
  readonly ignoreMerges: boolean;
  /** Used if the file does not say whether texts start with BOS. */
  readonly addsBos: boolean;
}

const split = (regex: string) => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior: 'Isolated',
  invert: false,
});
const byteLevel = (useRegex: boolean) => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: useRegex,
});

const CONTRACTIONS = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)`;
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const START = String.raw`[^\r\n\p{L}\p{N}]?`;
const SPACES = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const words = (numbers: string) => String.raw`${START}\p{L}+|${numbers}| ?[^\s\p{L}\p{N}]+[\r\n]*|${SPACES}`;
const casedWords = (contractions: string, numbers: string) =>
  String.raw`${START}${UPPER}*${LOWER}+${contractions}|${START}${UPPER}+${LOWER}*${contractions}|${numbers}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${SPACES}`;

const PLAIN = { normalizer: null, ignoreMerges: false, addsBos: false } as const;
const byRegex = (regex: string): PreTokenizer => ({ ...PLAIN, splits: [split(regex), byteLevel(false)] });

const GPT_2: PreTokenizer = { ...PLAIN, splits: [byteLevel(true)] };
const DIGITS: PreTokenizer = { ...PLAIN, splits: [{ type: 'Digits', individual_digits: true }, byteLevel(true)] };
const THREE_DIGITS = byRegex(`${CONTRACTIONS}|${words(String.raw`\p{N}{1,3}`)}`);
const LLAMA_3: PreTokenizer = { ...THREE_DIGITS, ignoreMerges: true, addsBos: true };
const QWEN_2 = byRegex(`${CONTRACTIONS}|${words(String.raw`\p{N}`)}`);

export const PRE_TOKENIZERS: Readonly<Record<string, PreTokenizer>> = {
  'gpt-2': GPT_2,
  'phi-2': GPT_2,
  olmo: GPT_2,
  smollm: DIGITS,
  starcoder: DIGITS,
  refact: DIGITS, // Granite
  'llama-bpe': LLAMA_3,
  llama3: LLAMA_3,
  'llama-v3': LLAMA_3,
  'smaug-bpe': THREE_DIGITS,
  dbrx: THREE_DIGITS, // OLMo 2, Phi-4
  qwen2: { ...QWEN_2, normalizer: 'NFC' },
  'deepseek-r1-qwen': QWEN_2,
  ufakzeka: byRegex(words(String.raw`\p{N}`)), // as the starter's
  'gpt-4o': byRegex(casedWords(`${CONTRACTIONS}?`, String.raw`\p{N}{1,3}`)), // Phi-4-mini
  tekken: { ...byRegex(casedWords('', String.raw`\p{N}`)), ignoreMerges: true, addsBos: true }, // Mistral Nemo
};
