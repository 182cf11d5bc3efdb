// Splits a text where a pattern matches: what becomes of the matches themselves, as `SplitDelimiterBehavior` of the library `tokenizers`
// says. Knows no pattern.
import { sliceText, type AlignedText, type Span } from './aligned-text.ts';

export const SPLIT_BEHAVIORS = ['Removed', 'Isolated', 'MergedWithPrevious', 'MergedWithNext', 'Contiguous'] as const;
export type SplitBehavior = (typeof SPLIT_BEHAVIORS)[number];

/** Parts without characters are left out. */
export function splitText(whole: AlignedText, spans: readonly Span[], behavior: SplitBehavior): AlignedText[] {
  const parts: AlignedText[] = [];
  for (const { from, to } of PARTS[behavior](spans)) if (to > from) parts.push(sliceText(whole, from, to));
  return parts;
}

type Part = Pick<Span, 'from' | 'to'>;

const PARTS: Readonly<Record<SplitBehavior, (spans: readonly Span[]) => readonly Part[]>> = {
  Isolated: (spans) => spans,
  Removed: (spans) => spans.filter(({ isMatch }) => !isMatch),
  // "Contiguous" joins neighbours that are both matches, or both none.
  Contiguous: (spans) => joined(spans, (span, previous) => span.isMatch === previous),
  MergedWithPrevious: (spans) => joined(spans, (span, previous) => span.isMatch && !previous),
  MergedWithNext: (spans) => joined([...spans].reverse(), (span, previous) => span.isMatch && !previous).reverse(),
};

/** `joins`: whether a span belongs to the part before it, if there is one, given whether the span before was a match. */
function joined(spans: readonly Span[], joins: (span: Span, previous: boolean) => boolean): Part[] {
  const parts: { from: number; to: number }[] = [];
  let previous = false;
  for (const span of spans) {
    const last = parts.at(-1);
    if (last && joins(span, previous)) {
      last.from = Math.min(last.from, span.from);
      last.to = Math.max(last.to, span.to);
    } else parts.push({ from: span.from, to: span.to });
    previous = span.isMatch;
  }
  return parts;
}

/** Every character for which `holds` is a match of its own. */
export function spansOfCharacters(text: string, holds: (point: number) => boolean): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (let at = 0; at < text.length;) {
    const point = text.codePointAt(at)!;
    const to = at + (point > 0xffff ? 2 : 1);
    if (holds(point)) {
      if (from < at) spans.push({ from, to: at, isMatch: false });
      spans.push({ from: at, to, isMatch: true });
      from = to;
    }
    at = to;
  }
  if (from < text.length) spans.push({ from, to: text.length, isMatch: false });
  return spans;
}

/** Every occurrence is a match. An empty text has none. */
export function spansOfText(text: string, wanted: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (let at = text.indexOf(wanted); at >= 0 && wanted !== ''; at = text.indexOf(wanted, from)) {
    if (from < at) spans.push({ from, to: at, isMatch: false });
    from = at + wanted.length;
    spans.push({ from: at, to: from, isMatch: true });
  }
  if (from < text.length) spans.push({ from, to: text.length, isMatch: false });
  return spans;
}

export const invertSpans = (spans: readonly Span[]): Span[] =>
  spans.map(({ from, to, isMatch }) => ({ from, to, isMatch: !isMatch }));
