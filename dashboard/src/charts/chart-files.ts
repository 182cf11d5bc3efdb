// What a chart shows, as files that the browser saves: the numbers as CSV, or the picture as PNG with its title and legend.
import { saveFile } from '../ui/save-file.ts';
import type { Axis } from './axis.ts';
import type { Line } from './curves.ts';
import type { Range } from './line-options.ts';

interface Table {
  readonly title: string;
  readonly axis: Axis;
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  /** Only these places; null: all. */
  readonly range: Range | null;
}

export function saveTable(table: Table): void {
  saveFile(new Blob([tableOf(table)], { type: 'text/csv;charset=utf-8' }), `${fileName(table.title)}.csv`);
}

/** RFC 4180. A smoothed line has a column of its own, beside that of the measured values. */
export function tableOf({ axis, x, lines, range }: Omit<Table, 'title'>): string {
  const isSmoothed = lines.some(({ isFaint }) => isFaint);
  const headOf = ({ label, isFaint }: Line) => (isSmoothed && !isFaint ? `${label}, smoothed` : label);
  const rows = x.flatMap((place, at) => {
    if (range !== null && (place < range.min || place > range.max)) return [];
    const values = lines.map(({ values }) => values[at] ?? null);
    return values.every((value) => value === null) ? [] : [[place, ...values]];
  });
  const table = [[axis === 'time' ? 'seconds' : axis, ...lines.map(headOf)], ...rows];
  return table.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

/** Text that a spreadsheet would take for a formula is escaped, because clients choose the names. */
function cellOf(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

interface Caption {
  readonly title: string;
  /** Names the place of the values. */
  readonly shown: string;
  readonly legend: readonly { label: string; color: number; value: string; note: string }[];
}

const [EDGE, LINE] = [12, 18];

/** Lines and axes as they are on the screen, on the screen's background. */
export async function savePicture(plot: HTMLElement, { title, shown, legend }: Caption): Promise<void> {
  const drawn = plot.querySelector('canvas');
  if (!drawn) return;
  const style = getComputedStyle(plot);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const scale = devicePixelRatio;
  const picture = document.createElement('canvas');
  picture.width = drawn.width + 2 * EDGE * scale;
  picture.height = drawn.height + (2 * EDGE + (legend.length + 2) * LINE) * scale;
  const context = picture.getContext('2d')!;
  context.fillStyle = color('surface');
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(drawn, EDGE * scale, (EDGE + LINE) * scale);
  context.scale(scale, scale);
  const write = (text: string, x: number, y: number, name: string, font = '12px sans-serif') => {
    context.fillStyle = color(name);
    context.font = font;
    context.fillText(text, x, y);
  };
  write(title, EDGE, EDGE + 12, 'text', 'bold 13px sans-serif');
  const below = EDGE + LINE + drawn.height / scale + 14;
  write(shown, EDGE, below, 'muted');
  for (const [at, { label, color: series, value, note }] of legend.entries()) {
    const y = below + (at + 1) * LINE;
    context.fillStyle = color(`series-${series}`);
    context.fillRect(EDGE, y - 6, 10, 3);
    write(`${label}  ${value}${note}`, EDGE + 16, y, 'text');
  }
  const file = await new Promise<Blob | null>((resolve) => picture.toBlob(resolve, 'image/png'));
  if (file) saveFile(file, `${fileName(title)}.png`);
}

const fileName = (title: string): string => title.replace(/[^\w.-]+/g, '-').replace(/^-|-$/g, '') || 'chart';
