// Tokens as running text, coloured by one of their numbers; the mouse or the arrow keys show all numbers of a token. Of a long text only
// a window is in the page, which grows while scrolling: thousands of spans at once would block the page.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { counted } from '../ui/numbers.ts';
import { visibleParts } from '../ui/text.tsx';
import type { TokenColumns } from './token-columns.ts';
import { TokenCard } from './token-card.tsx';
import { toSpans, type TokenSpan } from './token-spans.ts';
import { toneClass, type Shading } from './tone.ts';
import { usePicked } from './use-picked.ts';

interface TokenTextProps {
  /** What the text is, for screen readers. */
  readonly label: string;
  readonly columns: TokenColumns;
  /** Range of tokens; default: all. */
  readonly from?: number;
  readonly to?: number;
  readonly shading: Shading;
}

/** What fits in a column, and some more. */
const WINDOW_SPANS = 180;

export function TokenText({ label, columns, from = 0, to = columns.texts.length, shading }: TokenTextProps) {
  const spans = useMemo(() => toSpans(columns.texts.slice(from, to)), [columns, from, to]);
  const [shown, setShown] = useState(WINDOW_SPANS);
  const frame = useRef<HTMLDivElement>(null);
  const { picked, rect, handlers } = usePicked(frame, spans.length, (at) => at >= shown && setShown(at + WINDOW_SPANS));
  const window = useMemo(
    () => spans.slice(0, shown).map((span, at) => drawSpan(span, at, from, columns, shading)),
    [spans, shown, shading, columns, from],
  );
  const span = picked === null ? undefined : spans[picked];
  return (
    <div
      ref={frame}
      class="tokens"
      role="group"
      aria-label={`${label}, ${counted(to - from, 'token')}. Use the arrow keys to move between tokens.`}
      tabIndex={0}
      dir="auto"
      {...handlers}
    >
      {window}
      {shown < spans.length && <More left={spans.length - shown} grow={() => setShown(shown + WINDOW_SPANS)} />}
      {span && rect && <TokenCard columns={columns} from={from + span.from} to={from + span.to} rect={rect} />}
    </div>
  );
}

function drawSpan({ text, from, to }: TokenSpan, at: number, offset: number, columns: TokenColumns, shading: Shading) {
  const token = offset + to - 1; // the one that completes the character
  const isTrained = columns.trained?.[token] ?? true;
  const tone = toneClass(shading, {
    logprob: columns.sampler?.[token] ?? null,
    ratio: columns.ratios?.[token] ?? null,
    advantage: isTrained ? columns.advantage : null,
    isTrained,
  });
  return (
    <span key={at} data-span={at} class={`token ${isTrained ? '' : 'context'} ${tone}`} data-tokens={to - from}>
      {text === '' ? <span class="mark">no text</span> : drawText(text)}
    </span>
  );
}

/** Shows line breaks and keeps them. */
function drawText(text: string) {
  const parts = visibleParts(text);
  return parts.length === 1 && !parts[0]!.isMark
    ? text
    : parts.map((part) => (part.isMark ? <span class="mark">{part.text}</span> : part.text));
}

/** Grows the window when scrolled into view or pressed. */
function More({ left, grow }: { left: number; grow: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry!.isIntersecting && grow(), { rootMargin: '300px' });
    observer.observe(button.current!);
    return () => observer.disconnect();
  }, [grow]);
  return (
    <button ref={button} class="link" type="button" onClick={grow}>
      … {left} more
    </button>
  );
}
