// Where a rendered conversation is what the model writes, as the template's `{% generation %}` blocks say (Transformers'
// return_assistant_tokens_mask reads the same blocks). The template is rendered with a mark at both ends of each block.

export interface RenderedBlocks {
  readonly text: string;
  /** `[from, to)` in characters (UTF-16), in the order of the text. */
  readonly blocks: readonly { readonly from: number; readonly to: number }[];
}

export type BlockMarks = readonly [open: string, close: string];

/** Two private-use characters that the text does not have. */
export function freeMarks(text: string): BlockMarks {
  for (let code = 0xf5f5e; ; code += 2) {
    const marks = [String.fromCodePoint(code), String.fromCodePoint(code + 1)] as const;
    if (!marks.some((mark) => text.includes(mark))) return marks;
  }
}

/** Null: the marks do not belong together, because the end of a block was not reached. */
export function readBlocks(text: string, [open, close]: BlockMarks): RenderedBlocks | null {
  const blocks: { from: number; to: number }[] = [];
  let plain = '';
  let from: number | null = null;
  for (const part of text.split(new RegExp(`(${open}|${close})`, 'u'))) {
    if (part !== open && part !== close) plain += part;
    else if ((part === open) !== (from === null)) return null;
    else if (from === null) from = plain.length;
    else {
      blocks.push({ from, to: plain.length });
      from = null;
    }
  }
  return from === null ? { text: plain, blocks } : null;
}
