// tokenizer.json and the files next to it → metadata from which llama.cpp makes the same tokens. Byte-level BPE only; its way of splitting text
// must be one that llama.cpp has a name for.
import { counted } from '#base/counted';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import { isObject } from '#base/is-object';
import { refuseGguf, text, u32 } from './model-metadata.ts';
import { PRE_TOKENIZERS } from './pre-tokenizers.ts';
import { TOKEN_TYPE } from './gguf-tokenizer.ts';
import type { TypedValue } from './write-gguf.ts';

type Json = Readonly<Record<string, unknown>>;

/** `rows` of the embedding: more than the tokens if it is padded. */
export async function tokenizerMetadata(directory: string, rows: number): Promise<Record<string, TypedValue>> {
  const tokenizer = await readJson(join(directory, 'tokenizer.json'));
  const config = await readJson(join(directory, 'tokenizer_config.json'));
  const model = isObject(tokenizer['model']) ? tokenizer['model'] : {};
  const pre = preTokenizerName(tokenizer, model);
  const { tokens, types } = tokensOf(tokenizer, model, rows);
  const named = (name: string): Record<string, TypedValue> => {
    const id = tokens.indexOf(tokenText(config[name]) ?? '');
    return id < 0
      ? {}
      : { [`tokenizer.ggml.${name.replace('unk', 'unknown').replace('pad_', 'padding_')}_id`]: u32(id) };
  };
  return {
    'tokenizer.ggml.model': text('gpt2'),
    'tokenizer.ggml.pre': text(pre),
    'tokenizer.ggml.tokens': { type: 'string', value: tokens },
    'tokenizer.ggml.token_type': { type: 'i32', value: types },
    'tokenizer.ggml.merges': { type: 'string', value: mergesOf(model) },
    ...named('bos_token'),
    ...named('eos_token'),
    ...named('unk_token'),
    ...named('pad_token'),
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: addsBos(tokenizer['post_processor']) },
    ...(await chatTemplates(directory, config)),
  };
}

/** The longest tokenizers, of 260,000 tokens, have 35 MB. */
const TOKENIZER_BYTES_MAX = 128 * 2 ** 20;

/** Null: there is no such file. */
const readText = (path: string): Promise<string | null> =>
  readBoundedText(path, TOKENIZER_BYTES_MAX).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw refuseGguf(`${path} cannot be read: ${error.message}`);
  });

async function readJson(path: string): Promise<Json> {
  try {
    const json: unknown = JSON.parse((await readText(path)) ?? '{}');
    if (isObject(json)) return json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw refuseGguf(`${path} is no JSON object`);
}

const tokenText = (value: unknown): string | null =>
  typeof value === 'string' ? value : isObject(value) && typeof value['content'] === 'string' ? value['content'] : null;

function tokensOf(tokenizer: Json, model: Json, rows: number): { tokens: string[]; types: number[] } {
  const tokens: string[] = Array.from({ length: rows }, (_, id) => `[PAD${id}]`);
  const types: number[] = Array.from({ length: rows }, () => TOKEN_TYPE.unused);
  const set = (id: number, token: string, type: number) => {
    if (!Number.isInteger(id) || id < 0 || id >= rows)
      throw refuseGguf(`token ${JSON.stringify(token)} has id ${id}, the embedding has ${counted(rows, 'row')}`);
    tokens[id] = token;
    types[id] = type;
  };
  for (const [token, id] of Object.entries((model['vocab'] ?? {}) as Record<string, number>))
    set(id, token, TOKEN_TYPE.normal);
  const added = (tokenizer['added_tokens'] ?? []) as readonly { id: number; content: string; special?: boolean }[];
  for (const { id, content, special } of added)
    set(id, content, special === true ? TOKEN_TYPE.control : TOKEN_TYPE.userDefined);
  return { tokens, types };
}

const mergesOf = (model: Json): string[] =>
  ((model['merges'] ?? []) as readonly (string | readonly string[])[]).map((merge) =>
    typeof merge === 'string' ? merge : merge.join(' '),
  );

function preTokenizerName(tokenizer: Json, model: Json): string {
  const decoder = isObject(tokenizer['decoder']) ? tokenizer['decoder'] : {};
  if (model['type'] !== 'BPE' || decoder['type'] !== 'ByteLevel')
    throw refuseGguf('only byte-level BPE tokenizers can be written, and this tokenizer is of another kind');
  const own = splitsOf(tokenizer['pre_tokenizer']);
  const names = Object.keys(PRE_TOKENIZERS).filter((name) => {
    const { splits, ignoreMerges } = PRE_TOKENIZERS[name]!;
    return (
      ignoreMerges === (model['ignore_merges'] === true) &&
      splitsOf({ type: 'Sequence', pretokenizers: splits }) === own
    );
  });
  // llama.cpp does not normalise, so tokenizers that differ only in NFC are the same to it.
  const normalizes = isObject(tokenizer['normalizer']);
  const found = names.find((name) => (PRE_TOKENIZERS[name]!.normalizer !== null) === normalizes) ?? names[0];
  if (found === undefined) throw refuseGguf('llama.cpp has no pre-tokenizer that splits text like this tokenizer');
  return found;
}

/** The relevant parts of a pre-tokenizer, as text. */
function splitsOf(preTokenizer: unknown): string {
  if (!isObject(preTokenizer)) return 'none';
  const { type, pretokenizers, pattern, behavior, use_regex: useRegex, individual_digits: digits } = preTokenizer;
  if (type === 'Sequence' && Array.isArray(pretokenizers)) return (pretokenizers as unknown[]).map(splitsOf).join('\n');
  if (type === 'Split') return `Split ${behavior as string} ${JSON.stringify(pattern)}`;
  if (type === 'ByteLevel') return `ByteLevel ${useRegex !== false} ${preTokenizer['add_prefix_space'] === true}`;
  return type === 'Digits' ? `Digits ${digits === true}` : JSON.stringify(preTokenizer);
}

/** add_bos_token in tokenizer_config.json has no effect beside a tokenizer.json, as in Transformers. */
function addsBos(postProcessor: unknown): boolean {
  if (!isObject(postProcessor)) return false;
  const { processors, single } = postProcessor;
  if (Array.isArray(processors)) return (processors as unknown[]).some(addsBos);
  return Array.isArray(single) && isObject(single[0]) && isObject(single[0]['SpecialToken']);
}

async function chatTemplates(directory: string, config: Json): Promise<Record<string, TypedValue>> {
  const files = await templateFiles(directory);
  const given = config['chat_template'];
  const listed = Array.isArray(given) ? (given as readonly { name: string; template: string }[]) : [];
  const configured = typeof given === 'string' ? [{ name: 'default', template: given }] : listed;
  return Object.fromEntries(
    (files.length > 0 ? files : configured).map(({ name, template }) => [
      name === 'default' ? 'tokenizer.chat_template' : `tokenizer.chat_template.${name}`,
      text(template),
    ]),
  );
}

/** chat_template.jinja and additional_chat_templates/NAME.jinja, which take the place of those in tokenizer_config.json. */
async function templateFiles(directory: string): Promise<{ name: string; template: string }[]> {
  const main = await readText(join(directory, 'chat_template.jinja'));
  const found = main === null ? [] : [{ name: 'default', template: main }];
  const more = join(directory, 'additional_chat_templates');
  for (const file of (await readdir(more).catch(() => [])).filter((each) => each.endsWith('.jinja')).sort())
    found.push({ name: file.slice(0, -'.jinja'.length), template: (await readText(join(more, file))) ?? '' });
  return found;
}
