// Which tokenizer class AutoTokenizer of Transformers 5 makes of a model directory: the names in the files count for some kinds of models, and for
// others not. Knows the rule; rebuilt-classes.ts knows what the classes make.
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { OTHER_CLASSES } from './other-classes.ts';
import { REBUILT } from './rebuilt-classes.ts';

type Json = Readonly<Record<string, unknown>>;

/** Takes the whole tokenizer.json. */
const WHOLE = 'TokenizersBackend';

/** By `model_type`, of those that are served here. The others have what the files name. */
const OF_MODEL: Readonly<Record<string, string>> = {
  gemma2: 'GemmaTokenizer',
  gemma3_text: 'GemmaTokenizer',
  granite: WHOLE,
  mistral: WHOLE,
  mixtral: WHOLE,
  olmo2: WHOLE,
  olmo3: WHOLE,
  phi3: WHOLE,
  qwen2: 'Qwen2Tokenizer',
  qwen3: 'Qwen2Tokenizer',
  qwen3_moe: 'Qwen2Tokenizer',
};

/** Models whose files are known to name a wrong class. */
const NAMED_WRONG = new Set(['phi3', 'qwen2']);

/**
 * Its name in REBUILT; null: it takes the whole file. `config`: tokenizer_config.json; `model`: config.json. Throws `bad_model_files` for a
 * class that builds something else.
 */
export function tokenizerClass(tokenizer: Json, config: Json, model: Json): string | null {
  const named = textOf(config.tokenizer_class) ?? textOf(model.tokenizer_class);
  const kind = String(model.model_type);
  const ofModel = Object.hasOwn(OF_MODEL, kind) ? OF_MODEL[kind]! : null;
  if (named === null) return ofModel === WHOLE ? null : ofModel;
  if (!hasCode(config)) {
    if (
      withoutFast(named) === 'LlamaTokenizer' &&
      ofModel !== WHOLE &&
      !NAMED_WRONG.has(kind) &&
      hasByteLevel(tokenizer)
    )
      return null; // Llama 3's kind
    if (ofModel === WHOLE) return null;
    if (ofModel !== null && NAMED_WRONG.has(kind)) return ofModel;
  }
  return built(withoutFast(named));
}

function built(name: string): string | null {
  if (Object.hasOwn(REBUILT, name)) return name;
  if (!OTHER_CLASSES.has(name)) return null;
  throw new AppError(
    'bad_model_files',
    `The tokenizer_class ${name} does not take tokenizer.json as it is, and what it makes instead is not supported. If tokenizer.json is what the model was trained with, set tokenizer_class in tokenizer_config.json to PreTrainedTokenizerFast.`,
  );
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const withoutFast = (name: string): string => name.replace(/Fast$/, '');

/** A tokenizer that comes as a program: Transformers does not run it unless told to. */
const hasCode = ({ auto_map: map }: Json): boolean =>
  Array.isArray(map) || (isObject(map) && Boolean(map.AutoTokenizer));

const PARTS = ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder'];

function hasByteLevel(part: unknown, isFile = true): boolean {
  if (Array.isArray(part)) return part.some((each) => hasByteLevel(each, false));
  if (!isObject(part)) return false;
  const below = isFile ? PARTS.map((name) => part[name]) : Object.values(part);
  return part.type === 'ByteLevel' || below.some((each) => hasByteLevel(each, false));
}
