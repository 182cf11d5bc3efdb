// Makes one prompt: renders it with the model's template, unless it is already rendered, then encodes it. prompts.ts decides where.
import { invariant } from '#base/invariant';
import { AppError } from '#domain/errors';
import type { ChatTemplate, RenderRequest } from '../chat-template.ts';
import type { Tokenizer } from '../tokenizer.ts';

export interface PromptCall {
  /** A string is already rendered. */
  readonly prompt: string | RenderRequest;
  readonly addSpecialTokens: boolean;
  /** Longer texts are not encoded. */
  readonly charactersMax: number;
}

export interface MadePrompt {
  readonly text: string;
  /** Null: the text has more characters than allowed. */
  readonly tokens: number[] | null;
}

export interface PromptMaker {
  readonly chatTemplate: ChatTemplate | null;
  readonly tokenizer: Tokenizer;
}

/** More than any context has; their list, as an answer or between threads, would hold the event loop and take a gigabyte. */
const TOKENS_MAX = 2_000_000;

/** Throws what the template throws, and `invalid_request`. */
export function makePrompt(
  { chatTemplate, tokenizer }: PromptMaker,
  { prompt, addSpecialTokens, charactersMax }: PromptCall,
): MadePrompt {
  invariant(typeof prompt === 'string' || chatTemplate, 'rendering messages needs a template');
  const text = typeof prompt === 'string' ? prompt : chatTemplate!.render(prompt);
  if (text.length > charactersMax) return { text, tokens: null };
  const tokens = tokenizer.encode(text, { addSpecialTokens });
  if (tokens.length > TOKENS_MAX)
    throw new AppError(
      'invalid_request',
      `The text has ${tokens.length} tokens, more than ${TOKENS_MAX} at once. Send it in parts.`,
    );
  return { text, tokens };
}
