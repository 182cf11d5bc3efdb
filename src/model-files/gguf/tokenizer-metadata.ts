// The tokenizer of a model directory, as the server loads it, and its chat templates → metadata from which llama.cpp makes the same tokens.
// Byte-level BPE only; its way of splitting text must be one that llama.cpp has a name for.
import { counted } from '#base/counted';
import { isObject } from '#base/is-object';
import { findTemplates } from '#text/chat-template-files';
import { readTokenizerFiles, type AddedToken, type Json } from '#text/tokenizer-files';
import { refuseGguf, text, u32 } from './model-metadata.ts';
import { PRE_TOKENIZERS } from './pre-tokenizers.ts';
import { TOKEN_TYPE } from './gguf-tokenizer.ts';
import type { TypedValue } from './write-gguf.ts';

/** By llama.cpp's name of a token, the name in tokenizer_config.json. */
const NAMED = { bos: 'bos_token', eos: 'eos_token', unknown: 'unk_token', padding: 'pad_token' } as const;

/** `rows` of the embedding: more than the tokens if it is padded. */
export async function tokenizerMetadata(directory: string, rows: number): Promise<Record<string, TypedValue>> {
  const { tokenizer, config, addedTokens, namedTokens } = await readTokenizerFiles(directory);
  const model = isObject(tokenizer.model) ? tokenizer.model : {};
  const pre = preTokenizerName(tokenizer, model);
  const { tokens, types } = tokensOf(model, addedTokens, rows);
  const named = Object.entries(NAMED).flatMap(([name, role]): [string, TypedValue][] => {
    const id = tokens.indexOf(namedTokens.get(role) ?? '');
    return id < 0 ? [] : [[`tokenizer.ggml.${name}_token_id`, u32(id)]];
  });
  const templates = Object.entries((await findTemplates(directory, config)) ?? {});
  return {
    'tokenizer.ggml.model': text('gpt2'),
    'tokenizer.ggml.pre': text(pre),
    'tokenizer.ggml.tokens': { type: 'string', value: tokens },
    'tokenizer.ggml.token_type': { type: 'i32', value: types },
    'tokenizer.ggml.merges': { type: 'string', value: mergesOf(model) },
    ...Object.fromEntries(named),
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: addsBos(tokenizer.post_processor) },
    ...Object.fromEntries(
      templates.map(([name, template]) => [
        `tokenizer.chat_template${name === 'default' ? '' : `.${name}`}`,
        text(template),
      ]),
    ),
  };
}

/** An added token without a row is left out: the model cannot read it. */
function tokensOf(model: Json, added: readonly AddedToken[], rows: number): { tokens: string[]; types: number[] } {
  const tokens: string[] = Array.from({ length: rows }, (_, id) => `[PAD${id}]`);
  const types: number[] = Array.from({ length: rows }, () => TOKEN_TYPE.unused);
  for (const [token, id] of Object.entries((model.vocab ?? {}) as Record<string, number>)) {
    if (!Number.isInteger(id) || id < 0 || id >= rows)
      throw refuseGguf(`token ${JSON.stringify(token)} has id ${id}, the embedding has ${counted(rows, 'row')}`);
    tokens[id] = token;
    types[id] = TOKEN_TYPE.normal;
  }
  for (const { id, content, special } of added.filter(({ id }) => id < rows)) {
    tokens[id] = content;
    types[id] = special ? TOKEN_TYPE.control : TOKEN_TYPE.userDefined;
  }
  return { tokens, types };
}

const mergesOf = (model: Json): string[] =>
  ((model.merges ?? []) as readonly (string | readonly string[])[]).map((merge) =>
    typeof merge === 'string' ? merge : merge.join(' '),
  );

function preTokenizerName(tokenizer: Json, model: Json): string {
  const decoder = isObject(tokenizer.decoder) ? tokenizer.decoder : {};
  if (model.type !== 'BPE' || decoder.type !== 'ByteLevel')
    throw refuseGguf('only byte-level BPE tokenizers can be written, and this tokenizer is of another kind');
  const normalizers = normalizersOf(tokenizer.normalizer);
  const other = normalizers.find((type) => type !== 'NFC');
  if (other !== undefined)
    throw refuseGguf(`llama.cpp does not normalize text, and this tokenizer has the normalizer ${other}`);
  const own = splitsOf(tokenizer.pre_tokenizer);
  const names = Object.keys(PRE_TOKENIZERS).filter((name) => {
    const { splits, ignoreMerges } = PRE_TOKENIZERS[name]!;
    return (
      ignoreMerges === (model.ignore_merges === true) && splitsOf({ type: 'Sequence', pretokenizers: splits }) === own
    );
  });
  // Tokenizers that differ only in NFC are the same to llama.cpp.
  const normalizes = normalizers.length > 0;
  const found = names.find((name) => (PRE_TOKENIZERS[name]!.normalizer !== null) === normalizes) ?? names[0];
  if (found === undefined) throw refuseGguf('llama.cpp has no pre-tokenizer that splits text like this tokenizer');
  return found;
}

const normalizersOf = (normalizer: unknown): readonly string[] =>
  !isObject(normalizer)
    ? []
    : Array.isArray(normalizer.normalizers)
      ? (normalizer.normalizers as unknown[]).flatMap(normalizersOf)
      : [String(normalizer.type)];

/** The relevant parts of a pre-tokenizer, as text. */
function splitsOf(preTokenizer: unknown): string {
  if (!isObject(preTokenizer)) return 'none';
  const { type, pretokenizers, pattern, behavior, use_regex: useRegex, individual_digits: digits } = preTokenizer;
  if (type === 'Sequence' && Array.isArray(pretokenizers)) return (pretokenizers as unknown[]).map(splitsOf).join('\n');
  if (type === 'Split') return `Split ${behavior as string} ${JSON.stringify(pattern)}`;
  if (type === 'ByteLevel') return `ByteLevel ${useRegex !== false} ${preTokenizer.add_prefix_space === true}`;
  return type === 'Digits' ? `Digits ${digits === true}` : JSON.stringify(preTokenizer);
}

/** What tokenizer_config.json says of it has no effect beside a tokenizer.json, as in Transformers. */
function addsBos(postProcessor: unknown): boolean {
  if (!isObject(postProcessor)) return false;
  const { processors, single } = postProcessor;
  if (Array.isArray(processors)) return (processors as unknown[]).some(addsBos);
  return Array.isArray(single) && isObject(single[0]) && isObject(single[0].SpecialToken);
}
