// A text on its way to a tokenizer's model, and where each of its characters comes from in the text that was given. Changes keep the
// alignment as the library `tokenizers` (tokenizer/normalizer.rs) does, in UTF-16 units in place of bytes. Knows no kind of change.

/** Nothing is ever written into one that was made. */
export interface AlignedText {
  readonly text: string;
  /** Where the part of the given text begins for which this stands. */
  readonly origin: number;
  /** Of each unit of `text`: where its characters begin and end in the given text. Null: unit i is unit `origin + i` there. */
  readonly begins: Int32Array | null;
  readonly ends: Int32Array | null;
}

export const alignText = (text: string): AlignedText => ({ text, origin: 0, begins: null, ends: null });

export const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
export const isLow = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

export function beginOf({ text, origin, begins }: AlignedText, unit: number): number {
  if (begins) return begins[unit]!;
  return origin + (unit > 0 && isLow(text.charCodeAt(unit)) ? unit - 1 : unit);
}

export function endOf({ text, origin, ends }: AlignedText, unit: number): number {
  if (ends) return ends[unit]!;
  return origin + (isHigh(text.charCodeAt(unit)) && isLow(text.charCodeAt(unit + 1)) ? unit + 2 : unit + 1);
}

/** `[from, to)` are whole characters, at least one. */
export function sliceText(whole: AlignedText, from: number, to: number): AlignedText {
  const { text, begins, ends } = whole;
  if (from === 0 && to === text.length && beginOf(whole, 0) === whole.origin) return whole;
  return {
    text: text.slice(from, to),
    origin: from === to ? whole.origin + from : beginOf(whole, from),
    begins: begins && begins.subarray(from, to),
    ends: ends && ends.subarray(from, to),
  };
}

/** What a changed text is written with: text, and the place of each of its units in the given text. */
interface AlignedWriter {
  /** Units `[from, to)` as they are. */
  keep(from: number, to: number): void;
  write(text: string, begin: number, end: number): void;
  done(): AlignedText;
}

function rewriteText(from: AlignedText): AlignedWriter {
  const [begins, ends]: [number[], number[]] = [[], []];
  let text = '';
  return {
    keep(first, last) {
      for (let unit = first; unit < last; unit++) {
        begins.push(beginOf(from, unit));
        ends.push(endOf(from, unit));
      }
      text += from.text.slice(first, last);
    },
    write(written, begin, end) {
      for (let unit = 0; unit < written.length; unit++) {
        begins.push(begin);
        ends.push(end);
      }
      text += written;
    },
    done: () => ({ text, origin: from.origin, begins: Int32Array.from(begins), ends: Int32Array.from(ends) }),
  };
}

/**
 * Characters that replace those of a text, with their change: 0 replaces a character, 1 is new (and stands where the one before it
 * stands), -n replaces a character and removes the n that follow it.
 */
export interface Changes {
  readonly characters: string[];
  readonly changes: number[];
}

/** Replaces a text by its changed one. `removed`: characters that the beginning of the text loses. */
export function changeText(from: AlignedText, { characters, changes }: Changes, removed = 0): AlignedText {
  const { text, origin } = from;
  if (text === '') return from;
  const writer = rewriteText(from);
  // What a regular expression inserted before the first character stays as it is, and is there again in the changed text. So it is in
  // the library.
  let at = firstAligned(from);
  writer.keep(0, at);
  for (let i = 0; i < removed; i++) at += characterLength(text, at);
  for (const [i, character] of characters.entries()) {
    const change = changes[i]!;
    const unit = change > 0 ? at - 1 : at;
    if (unit < 0) writer.write(character, origin, origin);
    else writer.write(character, beginOf(from, unit), endOf(from, unit));
    for (let passed = change; passed <= 0; passed++) at += characterLength(text, at);
  }
  return writer.done();
}

/** The first unit that stands for something of the given text. */
function firstAligned({ begins, ends }: AlignedText): number {
  if (!begins || !ends) return 0;
  let unit = 0;
  while (unit < begins.length && begins[unit] === ends[unit]) unit++;
  return unit;
}

/** Units of the character at a place; 0 at the end. */
function characterLength(text: string, at: number): number {
  if (at >= text.length) return 0;
  return isHigh(text.charCodeAt(at)) && isLow(text.charCodeAt(at + 1)) ? 2 : 1;
}

/** Puts a text before one that is not empty; it stands for the first character. */
export function prependText(from: AlignedText, before: string): AlignedText {
  const { text } = from;
  if (text === '' || before === '') return from;
  const writer = rewriteText(from);
  writer.write(before, beginOf(from, 0), endOf(from, 0));
  writer.keep(0, text.length);
  return writer.done();
}

/** A part of a text that a pattern matched, or that lies between two matches. Together they are the whole text. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly isMatch: boolean;
}

/** Replaces every match; what replaces one stands for its last character. */
export function replaceMatches(from: AlignedText, spans: readonly Span[], content: string): AlignedText {
  const matches = spans.filter(({ isMatch }) => isMatch);
  if (matches.length === 0) return from;
  const { text, origin, begins, ends } = from;
  const sameLength = content.length === 1 && matches.every((match) => match.to - match.from === 1);
  if (sameLength)
    return { text: spans.map((s) => (s.isMatch ? content : text.slice(s.from, s.to))).join(''), origin, begins, ends };
  const writer = rewriteText(from);
  let kept = 0;
  for (const match of matches) {
    writer.keep(kept, match.from);
    const last = match.to - 1;
    if (last < 0) writer.write(content, origin, origin);
    else writer.write(content, beginOf(from, last), endOf(from, last));
    kept = match.to;
  }
  writer.keep(kept, text.length);
  return writer.done();
}
