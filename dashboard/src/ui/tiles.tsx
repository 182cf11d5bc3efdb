// A few numbers that say how things stand.
import type { ComponentChildren } from 'preact';

export const Tiles = ({ children }: { children: ComponentChildren }) => <dl class="tiles">{children}</dl>;

interface TileProps {
  readonly label: string;
  readonly children: ComponentChildren;
  /** Under the number. */
  readonly note?: ComponentChildren;
}

export const Tile = ({ label, children, note }: TileProps) => (
  <div class="tile">
    <dt>{label}</dt>
    <dd>{children}</dd>
    {note && <dd class="muted small">{note}</dd>}
  </div>
);
