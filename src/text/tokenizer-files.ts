// The JSON files beside a model's weights that concern text. What a model directory says about its special tokens is spread over three
// files and several formats; here it becomes one list.
import { join } from 'node:path';
import { FileTooLongError, readBoundedText } from '#base/bounded-file';
import { isObject } from '#base/is-object';
import { pathExists } from '#base/path-exists';
import { AppError } from '#domain/errors';
import { embeddingRows } from './embedding-rows.ts';
import { numbered, vocabularyOf, type AddedToken } from './tokenizer/added-token-ids.ts';
import { withMistralRegex } from './tokenizer/mistral-regex.ts';
import { REBUILT, rebuilt } from './tokenizer/rebuilt-classes.ts';
import { readSpecialTokens } from './tokenizer/special-tokens.ts';
import { tokenizerClass } from './tokenizer/tokenizer-class.ts';

export type Json = Readonly<Record<string, unknown>>;

export type { AddedToken };

export interface TokenizerFiles {
  /** tokenizer.json as Transformers loads it; `addedTokens` stand in place of its `added_tokens`. */
  readonly tokenizer: Json;
  /** tokenizer_config.json, or {}. */
  readonly config: Json;
  readonly addedTokens: readonly AddedToken[];
  /** `bos_token`, `eos_token`, `image_token`, … → their text, as chat templates see them. */
  readonly namedTokens: ReadonlyMap<string, string>;
}

/** In directories that are made from a GGUF file. */
const GGUF_POINTER = 'model.gguf.json';

export async function readTokenizerFiles(directory: string): Promise<TokenizerFiles> {
  const tokenizer = await findJson(join(directory, 'tokenizer.json'));
  if (!tokenizer)
    throw new AppError(
      'bad_model_files',
      `${directory} has no tokenizer.json. Save the model with its fast tokenizer.`,
    );
  const config = (await findJson(join(directory, 'tokenizer_config.json'))) ?? {};
  const beside = async (name: string) => (await findJson(join(directory, name))) ?? {};
  const model = await beside('config.json');
  if (config.split_special_tokens === true)
    throw new AppError(
      'bad_model_files',
      `${directory}/tokenizer_config.json has split_special_tokens, with which chat templates cannot write special tokens. Set it to false.`,
    );
  const isOfGguf = await pathExists(join(directory, GGUF_POINTER)); // written here, and whole
  const name = isOfGguf ? null : tokenizerClass(tokenizer, config, model);
  const { named, ofClass, added } = readSpecialTokens(
    {
      ofFile: tokenizer.added_tokens,
      config,
      specialTokensMap: await beside('special_tokens_map.json'),
      older: await beside('added_tokens.json'),
    },
    name === null ? null : REBUILT[name]!,
  );
  const { vocab } = isObject(tokenizer.model) ? tokenizer.model : {};
  const vocabulary = vocabularyOf(vocab);
  const addedTokens = numbered(added, vocabulary);
  const loaded = name === null ? tokenizer : rebuilt(name, tokenizer, config, { named, addedTokens });
  const tokens = vocabulary.size + addedTokens.filter(({ content }) => !vocabulary.has(content)).length;
  return {
    tokenizer: withMistralRegex(loaded, config, model, tokens),
    config,
    addedTokens,
    namedTokens: withRows(named, ofClass, { addedTokens, rows: embeddingRows(model) }),
  };
}

/** Without the tokens that only the class names and the model has no row for: Transformers has them, and the model cannot read them. */
function withRows(
  named: ReadonlyMap<string, string>,
  ofClass: ReadonlySet<string>,
  { addedTokens, rows }: { readonly addedTokens: readonly AddedToken[]; readonly rows: number | null },
): ReadonlyMap<string, string> {
  const beyond = addedTokens.filter(({ id }) => rows !== null && id >= rows);
  const contents = new Set(beyond.map(({ content }) => content));
  return new Map([...named].filter(([role, content]) => !ofClass.has(role) || !contents.has(content)));
}

/** The longest tokenizers, of 260,000 tokens, have 35 MB. */
const TOKENIZER_BYTES_MAX = 128 * 2 ** 20;

/** Returns null if there is no such file. */
export async function findJson(path: string): Promise<Json | null> {
  const text = await readBoundedText(path, TOKENIZER_BYTES_MAX).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null;
    const why = cause instanceof FileTooLongError ? `: ${cause.message}` : '';
    throw new AppError('bad_model_files', `Cannot read ${path}${why}.`, { cause });
  });
  if (text === null) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new AppError('bad_model_files', `${path} is not valid JSON. Download or export it again.`, { cause });
  }
  if (!isObject(parsed)) throw new AppError('bad_model_files', `${path} is not a JSON object.`);
  return parsed;
}
