// Turns a prompt that is text or token ids into the tokens that a model reads, truncated if the request says so. prompt.ts does it for
// conversations.
import { AppError } from '#domain/errors';
import type { SampledModel } from '../models/models.ts';
import type { CompletionRequest } from './chat-request.ts';
import { truncate } from './prompt.ts';
import { refuseLongText, type PromptName } from './room.ts';
import { refuseUnknownTokens } from './tokenization.ts';

export interface PromptReading extends Pick<CompletionRequest, 'addSpecialTokens' | 'truncation'> {
  /** For error messages: the client's name for the field. */
  readonly name: PromptName;
  /** Tokens that must fit after it. */
  readonly answerRoom: number;
  /** Which end of a token list is cut off. */
  readonly skipSpecialTokens: boolean;
}

/** Maximum tokens of prompt and answer together. */
export const contextOf = ({ base: { text, inference } }: SampledModel): number =>
  Math.min(text.contextLength, inference.contextLength);

/** Throws `invalid_request`, or `context_length_exceeded` for a text that cannot fit however it is tokenized. */
export async function readPrompt(
  model: SampledModel,
  { name, addSpecialTokens, truncation, answerRoom, skipSpecialTokens }: PromptReading,
  prompt: string | readonly number[],
  by: { readonly payer: string; readonly signal: AbortSignal },
): Promise<{ readonly tokens: readonly number[]; readonly text: string }> {
  const { tokenizer, prompts } = model.base.text;
  const contextLength = contextOf(model);
  const cut = (tokens: readonly number[]) => {
    const kept = truncate(tokens, truncation, contextLength, answerRoom);
    if (kept.length === 0) throw new AppError('invalid_request', `This ${name} is empty.`, { param: name });
    return kept;
  };
  const textOf = (tokens: readonly number[]) => tokenizer.decode(tokens, { skipSpecialTokens });
  if (typeof prompt !== 'string') {
    refuseUnknownTokens(prompt, model.base.inference.vocabSize, name);
    const tokens = cut(prompt);
    return { tokens, text: textOf(tokens) };
  }
  const charactersMax =
    truncation.truncatePromptTokens === null ? contextLength * tokenizer.tokenCharactersMax : Infinity;
  refuseLongText(prompt.length, charactersMax, contextLength, name);
  const made = await prompts.make({ prompt, addSpecialTokens, charactersMax }, by);
  const tokens = cut(made.tokens!);
  return { tokens, text: tokens.length === made.tokens!.length ? prompt : textOf(tokens) };
}
