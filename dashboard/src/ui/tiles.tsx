// A few key numbers at the top of a page.
import type { ComponentChildren } from 'preact';

export const Tiles = ({ children }: { children: ComponentChildren }) => <dl class="tiles">{children}</dl>;

interface TileProps {
  readonly label: string;
  readonly children: ComponentChildren;
  /** Shown under the number. */
  readonly note?: ComponentChildren;
}

export const Tile = ({ label, children, note }: TileProps) => (
  <div class="tile">
    <dt>{label}</dt>
    <dd>{children}</dd>
    {note && <dd class="muted small">{note}</dd>}
  </div>
);
