// All numbers of the picked token, shown next to it. A character of several tokens shows the numbers of each.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { visibleParts } from '../ui/text.tsx';
import { numbersOf, type TokenColumns } from './token-columns.ts';

interface TokenCardProps {
  readonly columns: TokenColumns;
  readonly from: number;
  readonly to: number;
  /** Position of its text in the window. */
  readonly rect: DOMRect;
}

const GAP_PX = 6;
const ALTERNATIVES_MAX = 8;

export function TokenCard({ columns, from, to, rect }: TokenCardProps) {
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { style, offsetWidth, offsetHeight } = card.current!;
    const below = rect.bottom + GAP_PX;
    const fits = below + offsetHeight < innerHeight;
    style.top = `${Math.max(GAP_PX, fits ? below : rect.top - GAP_PX - offsetHeight)}px`;
    style.left = `${Math.max(GAP_PX, Math.min(rect.left, innerWidth - offsetWidth - GAP_PX))}px`;
  });
  const tokens = Array.from({ length: to - from }, (_, i) => from + i);
  return (
    <div ref={card} class="token-card" role="status">
      {tokens.map((at) => (
        <OneToken key={at} columns={columns} at={at} />
      ))}
    </div>
  );
}

function OneToken({ columns, at }: { columns: TokenColumns; at: number }) {
  const alternatives = columns.alternatives?.[at]?.slice(0, ALTERNATIVES_MAX) ?? [];
  const isContext = columns.trained?.[at] === false;
  return (
    <dl>
      <dt class="token-name">{shownText(columns.texts[at]!)}</dt>
      <dd class="muted">{isContext ? `token ${at + 1}, context` : `token ${at + 1}`}</dd>
      {numbersOf(columns, at).map(({ label, value, also }) => (
        <>
          <dt>{label}</dt>
          <dd>
            {exactly(value)}
            {also && <span class="muted"> {also}</span>}
          </dd>
        </>
      ))}
      {alternatives.map(({ text, logprob }) => (
        <>
          <dt class="alternative">{shownText(text)}</dt>
          <dd class="muted">{exactly(logprob)}</dd>
        </>
      ))}
    </dl>
  );
}

/** Six digits, because a float32 has no more. */
const exactly = (value: number): string =>
  (Number.isInteger(value) ? String(value) : Number(value.toPrecision(6)).toString()).replace('-', '−');

const SEEN: Readonly<Record<string, string>> = { ' ': '␣', '\n': '⏎', '\t': '⇥' };

/** Makes white space visible too. */
const shownText = (text: string): string =>
  text === ''
    ? 'part of a character'
    : visibleParts(text)
        .map((part) => part.text.replace(/[ \n\t]/g, (space) => SEEN[space]!))
        .join('');
