// Checks the token ids in a model's files before lists are made that long: every id is a whole number that a vocabulary may have. Knows the
// files' fields, and no tokenizer.
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import type { Json, TokenizerFiles } from './tokenizer-files.ts';

/** Ten times the largest published vocabularies. */
const ID_MAX = 4_194_303;

export interface FilesWithIds {
  readonly files: Pick<TokenizerFiles, 'tokenizer' | 'config'>;
  /** config.json */
  readonly config: Json;
  /** generation_config.json, or {}. */
  readonly generation: Json;
}

/** Throws `bad_model_files` with the file, the field and the id. */
export function refuseBadTokenIds({ files, config, generation }: FilesWithIds, directory: string): void {
  for (const [file, field, id] of idsIn(files, config, generation)) {
    if (typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= ID_MAX) continue;
    const shown = typeof id === 'number' || typeof id === 'string' ? JSON.stringify(id) : `a ${typeof id}`;
    throw new AppError(
      'bad_model_files',
      `${directory}/${file}: ${field} must be a token id, a whole number from 0 to ${ID_MAX}, got ${shown.slice(0, 100)}. Download or export the file again.`,
    );
  }
}

type Id = readonly [file: string, field: string, id: unknown];

function* idsIn({ tokenizer, config }: FilesWithIds['files'], model: Json, generation: Json): Generator<Id> {
  const vocab = isObject(tokenizer.model) && isObject(tokenizer.model.vocab) ? tokenizer.model.vocab : {};
  for (const token in vocab)
    yield ['tokenizer.json', `model.vocab[${JSON.stringify(token).slice(0, 100)}]`, vocab[token]];
  const added: readonly unknown[] = Array.isArray(tokenizer.added_tokens) ? tokenizer.added_tokens : [];
  for (const [at, token] of added.entries())
    if (isObject(token)) yield ['tokenizer.json', `added_tokens[${at}].id`, token.id];
  const decoder = isObject(config.added_tokens_decoder) ? config.added_tokens_decoder : {};
  for (const id of Object.keys(decoder)) yield ['tokenizer_config.json', 'a key of added_tokens_decoder', Number(id)];
  for (const [file, { eos_token_id: ends }] of [
    ['config.json', model],
    ['generation_config.json', generation],
  ] as const)
    for (const id of Array.isArray(ends) ? (ends as unknown[]) : [ends ?? 0]) yield [file, 'eos_token_id', id];
}
