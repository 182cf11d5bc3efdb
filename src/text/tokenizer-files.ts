// The JSON files beside a model's weights that concern text. What a model directory says about its special tokens is spread over three
// files and several formats; here it becomes one list.
import { join } from 'node:path';
import { FileTooLongError, readBoundedText } from '#base/bounded-file';
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { asLlamaClass } from './tokenizer/llama-class.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface AddedToken {
  readonly id: number;
  readonly content: string;
  /** Omitted from decoded text unless requested. */
  readonly special: boolean;
  readonly [flag: string]: unknown;
}

export interface TokenizerFiles {
  /** tokenizer.json as Transformers loads it; `addedTokens` stand in place of its `added_tokens`. */
  readonly tokenizer: Json;
  /** tokenizer_config.json, or {}. */
  readonly config: Json;
  readonly addedTokens: readonly AddedToken[];
  /** `bos_token`, `eos_token`, `image_token`, … → their text, as chat templates see them. */
  readonly namedTokens: ReadonlyMap<string, string>;
}

export async function readTokenizerFiles(directory: string): Promise<TokenizerFiles> {
  const tokenizer = await findJson(join(directory, 'tokenizer.json'));
  if (!tokenizer)
    throw new AppError(
      'bad_model_files',
      `${directory} has no tokenizer.json. Save the model with its fast tokenizer.`,
    );
  const config = (await findJson(join(directory, 'tokenizer_config.json'))) ?? {};
  const specialTokensMap = (await findJson(join(directory, 'special_tokens_map.json'))) ?? {};
  const namedTokens = new Map<string, string>();
  for (const place of [specialTokensMap, config, config.model_specific_special_tokens, config.extra_special_tokens]) {
    if (!isObject(place)) continue;
    for (const [name, token] of Object.entries(place)) {
      const text = name.endsWith('_token') ? tokenText(token) : null;
      if (text !== null) namedTokens.set(name, text);
    }
  }
  const named = [
    ...namedTokens.values(),
    ...listed(config.additional_special_tokens),
    ...listed(config.extra_special_tokens),
    ...listed(specialTokensMap.additional_special_tokens),
  ];
  const model = (await findJson(join(directory, 'config.json'))) ?? {};
  return {
    tokenizer: asLlamaClass(tokenizer, config, model),
    config,
    addedTokens: mergeAddedTokens(tokenizer, config, new Set(named)),
    namedTokens,
  };
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

/** As Transformers does when loading: tokenizer_config.json adds tokens, and a token with a role (eos, …) is special. */
function mergeAddedTokens(tokenizer: Json, config: Json, named: ReadonlySet<string>): AddedToken[] {
  const merged = new Map<string, AddedToken>();
  const add = (id: unknown, token: unknown) => {
    if (!isObject(token) || typeof token.content !== 'string' || typeof id !== 'number' || !Number.isSafeInteger(id))
      return;
    const special = token.special === true || named.has(token.content) || merged.get(token.content)?.special === true;
    merged.set(token.content, { ...token, id, content: token.content, special });
  };
  const listedTokens: unknown[] = Array.isArray(tokenizer.added_tokens) ? tokenizer.added_tokens : [];
  for (const token of listedTokens) if (isObject(token)) add(token.id, token);
  const decoder = isObject(config.added_tokens_decoder) ? config.added_tokens_decoder : {};
  for (const [id, token] of Object.entries(decoder)) add(Number(id), token);
  const vocab = isObject(tokenizer.model) && isObject(tokenizer.model.vocab) ? tokenizer.model.vocab : {};
  for (const content of named) {
    if (!merged.has(content) && Object.hasOwn(vocab, content))
      add(vocab[content], { content, special: true, normalized: false });
  }
  return [...merged.values()].sort((a, b) => a.id - b.id);
}

/** Older files write a token as an object with its flags. */
function tokenText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return isObject(value) && typeof value.content === 'string' ? value.content : null;
}

const listed = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(tokenText).filter((text) => text !== null) : [];
