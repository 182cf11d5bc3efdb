// One prompt: rendered by the model's template, or by another before, then encoded. Where this happens is prompts.ts.
import { invariant } from '#base/invariant';
import type { ChatTemplate, RenderRequest } from '../chat-template.ts';
import type { Tokenizer } from '../tokenizer.ts';

export interface PromptCall {
  /** A text is rendered already. */
  readonly prompt: string | RenderRequest;
  readonly addSpecialTokens: boolean;
  /** Of a longer text nothing is encoded. */
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
  invariant(typeof prompt === 'string' || chatTemplate, 'messages were to be rendered without a template');
  const text = typeof prompt === 'string' ? prompt : chatTemplate!.render(prompt);
  return { text, tokens: text.length > charactersMax ? null : tokenizer.encode(text, { addSpecialTokens }) };
}
