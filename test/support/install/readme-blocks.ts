// The blocks of code of a Markdown file, in order. A block that no test can run has a comment before it that says why:
// <!-- not run: it needs a GPU -->

export interface Block {
  readonly language: string;
  readonly code: string;
  /** Why no test runs it; absent: a test runs it. */
  readonly notRun?: string;
}

export const readBlocks = (markdown: string): Block[] =>
  [...markdown.matchAll(/(?:^<!-- not run: ((?:(?!-->).)+) -->\n\n?)?^```(\w+)\n(.*?)^```$/gms)].map(
    ([, notRun, language, code]) => ({ language: language!, code: code!, ...(notRun === undefined ? {} : { notRun }) }),
  );

/** Shows what a program prints, sends or reads, and is not run. */
const EXHIBITS = ['text', 'json', 'http', 'yaml', 'ini', 'nginx'];
const FILE = /^(?:\/\/|#) ([\w-]+\.(?:mjs|py))\n/;

/** The name in its first line, under which its reader writes it; null: not a file. */
export const fileOf = ({ code }: Block): string | null => FILE.exec(code)?.[1] ?? null;
export const isExhibit = ({ language }: Block): boolean => EXHIBITS.includes(language);
