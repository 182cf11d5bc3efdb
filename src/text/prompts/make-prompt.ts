// Makes one prompt: renders it with the model's template, unless it is already rendered, then encodes it. prompts.ts decides where.
import { invariant } from '#base/invariant';
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

/** Throws what the template throws. */
export function makePrompt(
  { chatTemplate, tokenizer }: PromptMaker,
  { prompt, addSpecialTokens, charactersMax }: PromptCall,
): MadePrompt {
  invariant(typeof prompt === 'string' || chatTemplate, 'rendering messages needs a template');
  const text = typeof prompt === 'string' ? prompt : chatTemplate!.render(prompt);
  return { text, tokens: text.length > charactersMax ? null : tokenizer.encode(text, { addSpecialTokens }) };
}
