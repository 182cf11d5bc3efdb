// Checks that a model can read every token that a text can become. An embedding may have more rows than its tokenizer has tokens, never
// fewer, except for special tokens that nothing here writes, such as Gemma 3's <image_soft_token>, which only vision models read.
import { AppError } from '#domain/errors';
import { embeddingRows } from './embedding-rows.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { Json, TokenizerFiles } from './tokenizer-files.ts';

export interface SpokenTokens extends Pick<TokenizerFiles, 'addedTokens' | 'namedTokens'> {
  readonly tokenizer: Pick<Tokenizer, 'vocabSize' | 'isSpecial' | 'tokenText'>;
  /** Source of the chat template; empty: none. */
  readonly template: string;
}

/** Throws `bad_model_files`. `config` is config.json; the engine refuses one without a size. */
export function refuseTokensWithoutRow(spoken: SpokenTokens, config: Json, directory: string): void {
  const rows = embeddingRows(config);
  const { vocabSize, tokenText } = spoken.tokenizer;
  if (rows === null) return;
  const contents = new Map(spoken.addedTokens.map(({ id, content }) => [id, content]));
  for (let id = rows; id < vocabSize; id++) {
    if (tokenText(id) === '' || isUnspoken(id, contents.get(id), spoken)) continue;
    throw new AppError(
      'bad_model_files',
      `The tokenizer of ${directory} has tokens up to id ${vocabSize - 1}, and config.json says that the model has ${rows} (vocab_size): it could not read ${JSON.stringify(tokenText(id))}, which has id ${id}. Check that both are of the same model, and that its embedding was resized.`,
    );
  }
}

/** Special tokens that neither the chat template nor the start or end of a text needs; padding is not needed either. */
function isUnspoken(
  id: number,
  content: string | undefined,
  { tokenizer, namedTokens, template }: SpokenTokens,
): boolean {
  if (content === undefined || !tokenizer.isSpecial(id)) return false;
  return !template.includes(content) && ![namedTokens.get('bos_token'), namedTokens.get('eos_token')].includes(content);
}
