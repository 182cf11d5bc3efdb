// A list of any length of which only the visible rows are in the page. Rows may differ in height and change it (a row that opens in
// place): each is measured once it is drawn, and counts as `rowHeight` before. The list scrolls in a frame of its own.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

interface VirtualListProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  /** In px, until a row is measured. */
  readonly rowHeight: number;
  /** Of the frame, which is no higher than its rows; a CSS length. */
  readonly heightMax: string;
  readonly keyOf: (row: Row) => string;
  /** Key of a row that is scrolled into sight, now and whenever it changes. */
  readonly follow?: string;
  readonly children: (row: Row, index: number) => ComponentChildren;
}

/** Extra rows above and below the visible ones, so that quick scrolling shows no gaps. */
const OVERSCAN_PX = 400;

export function VirtualList<Row>({
  label,
  rows,
  rowHeight,
  heightMax,
  keyOf,
  follow,
  children,
}: VirtualListProps<Row>) {
  const frame = useRef<HTMLDivElement>(null);
  const [heights] = useState(() => new Map<string, number>());
  const [version, setVersion] = useState(0);
  const [seen, setSeen] = useState({ top: 0, height: 800 });

  const tops = useMemo(() => {
    const list = [0];
    for (const row of rows) list.push(list.at(-1)! + (heights.get(keyOf(row)) ?? rowHeight));
    return list;
  }, [rows, version, rowHeight]);

  const [observer] = useState(
    () =>
      new ResizeObserver((entries) => {
        let changed = false;
        for (const { target } of entries) {
          const { key } = (target as HTMLElement).dataset;
          const measured = (target as HTMLElement).offsetHeight;
          if (key === undefined || measured === 0 || heights.get(key) === measured) continue;
          heights.set(key, measured);
          changed = true;
        }
        if (changed) setVersion((before) => before + 1);
      }),
  );
  useLayoutEffect(() => {
    const follow = () => setSeen({ top: frame.current!.scrollTop, height: frame.current!.clientHeight });
    const resized = new ResizeObserver(follow);
    resized.observe(frame.current!);
    return () => {
      resized.disconnect();
      observer.disconnect();
    };
  }, []);

  const followed = follow === undefined ? -1 : rows.findIndex((row) => keyOf(row) === follow);
  useLayoutEffect(() => {
    const { scrollTop, clientHeight } = frame.current!;
    const top = tops[followed];
    if (top === undefined) return;
    if (top < scrollTop || tops[followed + 1]! > scrollTop + clientHeight) frame.current!.scrollTop = top;
  }, [follow, followed === -1]);

  const first = Math.max(0, indexAt(tops, seen.top - OVERSCAN_PX));
  const last = Math.min(rows.length, indexAt(tops, seen.top + seen.height + OVERSCAN_PX) + 1);
  return (
    <div
      ref={frame}
      class="virtual"
      role="list"
      aria-label={label}
      tabIndex={0}
      style={{ maxHeight: heightMax }}
      onScroll={({ currentTarget }) => setSeen({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })}
    >
      <div role="presentation" style={{ height: `${tops.at(-1)}px` }}>
        {rows.slice(first, last).map((row, at) => (
          <Measured key={keyOf(row)} id={keyOf(row)} top={tops[first + at]!} observer={observer}>
            {children(row, first + at)}
          </Measured>
        ))}
      </div>
    </div>
  );
}

interface MeasuredProps {
  readonly id: string;
  readonly top: number;
  readonly observer: ResizeObserver;
  readonly children: ComponentChildren;
}

function Measured({ id, top, observer, children }: MeasuredProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const measured = element.current!;
    observer.observe(measured);
    return () => observer.unobserve(measured);
  }, []);
  return (
    <div ref={element} role="listitem" class="virtual-row" data-key={id} style={{ transform: `translateY(${top}px)` }}>
      {children}
    </div>
  );
}

/** The row at this height, by binary search. */
function indexAt(tops: readonly number[], y: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle]! <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}
