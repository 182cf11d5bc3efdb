// Where a rendered conversation is what the model writes, as the template's `{% generation %}` blocks say (Transformers'
// return_assistant_tokens_mask reads the same blocks). The template is rendered with a mark at both ends of each block.

export interface RenderedBlocks {
  readonly text: string;
  /** `[from, to)` in characters (UTF-16), in the order of the text. */
  readonly blocks: readonly { readonly from: number; readonly to: number }[];
}

/** Private-use characters, which no template writes; a conversation with them has no blocks. */
const [OPEN, CLOSE] = ['\u{F5F5E}', '\u{F5F5F}'];
export const BLOCK_MARKS = [OPEN, CLOSE] as const;

/** Null: `text` has no marks that belong together, because a block was not reached or the conversation has the marks itself. */
export function readBlocks(text: string): RenderedBlocks | null {
  const blocks: { from: number; to: number }[] = [];
  let plain = '';
  let from: number | null = null;
  for (const part of text.split(new RegExp(`(${OPEN}|${CLOSE})`, 'u'))) {
    if (part !== OPEN && part !== CLOSE) plain += part;
    else if ((part === OPEN) !== (from === null)) return null;
    else if (from === null) from = plain.length;
    else {
      blocks.push({ from, to: plain.length });
      from = null;
    }
  }
  return from === null ? { text: plain, blocks } : null;
}
