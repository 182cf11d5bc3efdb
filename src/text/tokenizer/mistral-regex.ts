// `fix_mistral_regex` in tokenizer_config.json: early files of Mistral's large vocabularies split text by a wrong expression, and Transformers 5
// takes the right one where this is true, the model is Mistral's, and config.json was written by an earlier version.
import { isObject } from '#base/is-object';

type Json = Readonly<Record<string, unknown>>;

/** Smaller vocabularies are not looked at. */
const TOKENS_MIN = 100_001;

const REGEX = String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const SPLIT = { type: 'Split', pattern: { Regex: REGEX }, behavior: 'Isolated', invert: false };
const BYTES = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };

/** `config`: tokenizer_config.json; `model`: config.json; `tokens`: how many there are, with the added ones. */
export function withMistralRegex(tokenizer: Json, config: Json, model: Json, tokens: number): Json {
  const { pre_tokenizer: split } = tokenizer;
  const isMeant = config.fix_mistral_regex === true && model.model_type === 'mistral' && isOlder(model);
  if (!isMeant || tokens < TOKENS_MIN || !isObject(split)) return tokenizer;
  const rest: unknown[] =
    split.type === 'Sequence' && Array.isArray(split.pretokenizers)
      ? split.pretokenizers.slice(1)
      : [split.type === 'Metaspace' ? BYTES : split];
  return { ...tokenizer, pre_tokenizer: { type: 'Sequence', pretokenizers: [SPLIT, ...rest] } };
}

/** Than version 5. */
const isOlder = ({ transformers_version: version }: Json): boolean =>
  typeof version !== 'string' || Number.parseInt(version, 10) < 5 || /^5\.0\.0(?:\.?dev|rc|a|b)/.test(version);
