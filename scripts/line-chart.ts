// Line charts for guides, as SVG text: panels next to each other, the name of each line at its end. Decides how they look: on white, so
// that they are readable on light and dark pages. Knows no jobs. The same numbers produce the same bytes.

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly colour: string;
  readonly dash?: string;
  readonly width?: number;
}

export interface Panel {
  readonly title: string;
  /** Names of the axes, with their units. */
  readonly x: string;
  readonly y: string;
  /** The range that is shown at least. */
  readonly yRange?: readonly [low: number, high: number];
  readonly lines: readonly Line[];
}

/** From Okabe and Ito, distinguishable for colour-blind readers too; those with enough contrast on white. */
export const COLOURS = { blue: '#0072B2', red: '#D55E00', green: '#009E73', purple: '#AA4499', grey: '#666666' };

const WIDTH = 880;
const PLOT = { top: 84, height: 210, left: 46 };
const HEIGHT = PLOT.top + PLOT.height + 50;
const LABEL = { height: 17, leader: 14, sample: 22, letter: 7 };
const INK = '#24292f';
const FAINT = '#d8dee4';

const px = (value: number): string => String(Number(value.toFixed(1)));
const escape = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

/** 1, 2 or 5 times a power of ten apart, as few as cover the range in at most `most` steps. */
function ticksOver(low: number, high: number, most: number): number[] {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * (1 - 1e-9))!;
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(6)));
}

/** As close to the ends of their lines as possible without covering each other. */
function spread(ends: readonly number[]): number[] {
  const order = ends.map((_, i) => i).sort((a, b) => ends[a]! - ends[b]!);
  const bottom = PLOT.top + PLOT.height;
  const placed: number[] = [];
  for (const i of order) placed.push(Math.max(ends[i]!, (placed.at(-1) ?? -Infinity) + LABEL.height));
  for (let i = placed.length - 1, limit = bottom; i >= 0; i--, limit -= LABEL.height)
    placed[i] = Math.min(placed[i]!, limit);
  return ends.map((_, i) => placed[order.indexOf(i)]!);
}

function text(x: number, y: number, words: string | number, more = ''): string {
  return `<text x="${px(x)}" y="${px(y)}"${more}>${escape(String(words))}</text>`;
}

function drawPanel({ title, x, y, yRange = [Infinity, -Infinity], lines }: Panel, from: number, width: number): string {
  const [xs, ys] = [0, 1].map((axis) => lines.flatMap(({ points }) => points.map((point) => point[axis]!)));
  const labelWidth = LABEL.leader + LABEL.sample + 6 + LABEL.letter * Math.max(...lines.map(({ name }) => name.length));
  const left = from + PLOT.left;
  const right = from + width - labelWidth - 10;
  const bottom = PLOT.top + PLOT.height;
  const xTicks = ticksOver(0, Math.max(...xs!), right - left > 200 ? 6 : 4).filter((tick) => tick <= Math.max(...xs!));
  const yTicks = ticksOver(Math.min(...ys!, yRange[0]), Math.max(...ys!, yRange[1]), 5);
  const xAt = (value: number) => left + (value / Math.max(...xs!)) * (right - left);
  const yAt = (value: number) => bottom - ((value - yTicks[0]!) / (yTicks.at(-1)! - yTicks[0]!)) * PLOT.height;
  const rule = (path: string) => `<path d="${path}" stroke="${FAINT}"/>`;
  const marks = [
    text(from + 8, 54, title, ' font-weight="600" font-size="14"'),
    text(from + 8, 72, y),
    ...yTicks.flatMap((tick) => [
      rule(`M${px(left)} ${px(yAt(tick))}H${px(right)}`),
      text(left - 6, yAt(tick) + 4, tick, ' text-anchor="end"'),
    ]),
    ...xTicks.map((tick) => text(xAt(tick), bottom + 17, tick, ' text-anchor="middle"')),
    text((left + right) / 2, bottom + 36, x, ' text-anchor="middle"'),
  ];
  const ends = lines.map(({ points }) => yAt(points.at(-1)![1]));
  const labels = spread(ends);
  const drawn = lines.map(({ name, points, colour, dash, width = 2 }, i) => {
    const at = labels[i]!;
    const sample = right + LABEL.leader;
    const path = points.map((point) => `${px(xAt(point[0]))} ${px(yAt(point[1]))}`).join('L');
    const look = `stroke="${colour}" stroke-width="${width}"${dash ? ` stroke-dasharray="${dash}"` : ''}`;
    return [
      `<path d="M${path}" ${look}/>`,
      `<path d="M${px(right + 2)} ${px(ends[i]!)}L${px(sample - 2)} ${px(at)}" stroke="${colour}" stroke-width="0.7"/>`,
      `<path d="M${px(sample)} ${px(at)}h${LABEL.sample}" ${look}/>`,
      text(sample + LABEL.sample + 6, at + 4, name),
    ].join('\n');
  });
  return [...marks, ...drawn].join('\n');
}

export function drawChart(title: string, panels: readonly Panel[]): string {
  const width = WIDTH / panels.length;
  const description = panels.map((panel) => `${panel.title}: ${panel.lines.map(({ name }) => name).join(', ')}.`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12">`,
    `<style>path{fill:none;stroke-linejoin:round}text{fill:${INK}}</style>`,
    `<title id="title">${escape(title)}</title>`,
    `<desc id="description">${escape(description.join(' '))}</desc>`,
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="6" fill="#fff" stroke="${FAINT}"/>`,
    text(14, 26, title, ' font-weight="600" font-size="15"'),
    ...panels.map((panel, i) => drawPanel(panel, i * width + 6, width)),
    '</svg>',
    '',
  ].join('\n');
}
