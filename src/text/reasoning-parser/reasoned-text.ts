// The output of a reasoning parser: reasoning and answer, whatever format separates them.

export interface ReasonedText {
  readonly reasoning: string;
  readonly content: string;
}

export interface ReasoningParser {
  push(text: string): ReasonedText;
  /** The generation has ended: returns what was held back. `isStopped`: the model ended it, instead of being cut off. */
  flush(isStopped?: boolean): ReasonedText;
  /** Whether the next text belongs to the reasoning, as far as is known. */
  readonly thinking: boolean;
}

/** The state after a prompt: reasoning has begun, is over, or the model may begin it. */
export type ThinkingState = 'open' | 'closed' | 'unsaid';
