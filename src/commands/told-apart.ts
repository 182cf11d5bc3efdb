// Shows texts in little room so that a reader can tell them apart: prompts of one task often begin with the same instructions.
// Knows nothing of what they are.
import { cut, printable, wholeCharacters } from './output.ts';

/** Each in at most `width` characters: its beginning, or, where that looks like another text's, the part in which they differ. */
export function toldApart(texts: readonly string[], width: number): string[] {
  const lines = texts.map((text) => printable(text).trim());
  const sorted = [...new Set(lines)].sort();
  const first = sorted[0] ?? '';
  const common = sharedPrefix(first, sorted.at(-1) ?? '');
  const starts = new Map(sorted.map((line, i) => [line, startOf(line, [sorted[i - 1], sorted[i + 1]], common, width)]));
  return lines.map((line) => {
    const start = starts.get(line)!;
    const shown = start === 0 ? line : `… ${wholeCharacters(line.slice(start))}`;
    return shown.length <= width ? shown : cut(shown, width - 2);
  });
}

/** The neighbours in alphabetical order share the longest beginnings with a text. */
function startOf(text: string, neighbours: readonly (string | undefined)[], common: number, width: number): number {
  const differsAt = Math.max(...neighbours.map((each) => (each === undefined ? 0 : sharedPrefix(text, each))));
  if (differsAt < (2 / 3) * width) return 0;
  const before = Math.max(common, differsAt - Math.floor(width / 3));
  const word = text.lastIndexOf(' ', before) + 1;
  return before - word <= width / 3 ? word : before;
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
