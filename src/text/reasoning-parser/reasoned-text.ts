// What is read of a model's thinking and answer, whatever format tells them apart.

export interface ReasonedText {
  readonly reasoning: string;
  readonly content: string;
}

export interface ReasoningParser {
  push(text: string): ReasonedText;
  /** The generation is over: what was held back. */
  flush(): ReasonedText;
  /** What comes next belongs to the thinking, as far as is known. */
  readonly thinking: boolean;
}

/** How a prompt leaves it: thinking has begun, is over, or the model may begin it. */
export type ThinkingState = 'open' | 'closed' | 'unsaid';
