// The output of a call parser, piece by piece, whatever the syntax.

export type ToolDelta =
  | { readonly kind: 'content'; readonly text: string }
  /** Call `index` begins. */
  | { readonly kind: 'call'; readonly index: number; readonly name: string }
  /** The next piece of its arguments, JSON text. */
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string };

export interface ToolParser {
  push(text: string): ToolDelta[];
  /**
   * The generation has ended: what turned out not to be a call is content. So is a call inside which the model ended its answer
   * (`isStopped`); one that was cut off is a call as far as it got.
   */
  flush(isStopped?: boolean): ToolDelta[];
}
