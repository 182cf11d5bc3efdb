// What is read of a model's calls, piece by piece, whatever syntax it writes them in.

export type ToolDelta =
  | { readonly kind: 'content'; readonly text: string }
  /** Call `index` begins. */
  | { readonly kind: 'call'; readonly index: number; readonly name: string }
  /** The next piece of its arguments, JSON text. */
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string };

export interface ToolParser {
  push(text: string): ToolDelta[];
  /** The generation is over: what is no call after all is content. */
  flush(): ToolDelta[];
}
