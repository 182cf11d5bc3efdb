// The blocks of code of a Markdown file, in order.

export interface Block {
  readonly language: string;
  readonly code: string;
}

export const readBlocks = (markdown: string): Block[] =>
  [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));
