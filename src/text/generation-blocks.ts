// Where a rendered conversation is what the model writes, as the template's `{% generation %}` blocks say (Transformers'
// return_assistant_tokens_mask reads the same blocks). The template is rendered with a mark at both ends of each block.

export interface RenderedBlocks {
  readonly text: string;
  /** `[from, to)` in characters (UTF-16), in the order of the text. */
  readonly blocks: readonly { readonly from: number; readonly to: number }[];
}

/** Private-use characters, which no template writes; a conversation with them has no blocks. */
const [OPEN, CLOSE] = ['\u{F5F5E}', '\u{F5F5F}'];
const TAG = /\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}/g;

/** The source with marks; null: it has no blocks. The mark stands in a block of its own, so that white space around it is cut as before. */
export function markBlocks(source: string): string | null {
  const marked = source.replace(
    TAG,
    (_, left: string, end: string | undefined, right: string) =>
      `{%${left} if true %}{{ '${end ? CLOSE : OPEN}' }}{% endif ${right}%}`,
  );
  return marked === source ? null : marked;
}

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
