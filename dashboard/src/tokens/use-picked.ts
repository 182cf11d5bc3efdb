// Tracks which span of a text is picked: under the mouse, or reached with the arrow keys. One listener serves all spans of a text.
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 };

interface Picked {
  readonly at: number;
  readonly rect: DOMRect;
}

/** `reach` is called with a span before it is looked up, so that it can be drawn. */
export function usePicked(frame: RefObject<HTMLElement | null>, count: number, reach: (at: number) => void) {
  const [picked, setPicked] = useState<Picked | null>(null);
  const [wanted, setWanted] = useState<number | null>(null);

  const pick = (element: HTMLElement | null | undefined) =>
    setPicked(element ? { at: Number(element.dataset['span']), rect: element.getBoundingClientRect() } : null);

  useEffect(() => {
    if (wanted === null) return;
    const element = frame.current?.querySelector<HTMLElement>(`[data-span="${wanted}"]`);
    element?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    pick(element);
  }, [wanted]);

  const handlers = {
    onPointerOver(event: PointerEvent) {
      pick((event.target as HTMLElement).closest<HTMLElement>('[data-span]'));
    },
    onPointerLeave: () => pick(null),
    onBlur() {
      setWanted(null);
      pick(null);
    },
    onKeyDown(event: KeyboardEvent) {
      const step = STEPS[event.key];
      if (event.key === 'Escape') pick(null);
      if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const next = Math.max(0, Math.min(count - 1, (wanted ?? (step > 0 ? -step : count)) + step));
      reach(next);
      setWanted(next);
    },
  };
  return { picked: picked?.at ?? null, rect: picked?.rect ?? null, handlers };
}
