// A line on a terminal that shows the progress, the rate and the remaining time of long work. Shown on terminals only: results
// go to stdout, and a progress bar does not belong in a log.
import { errorTerminal, overwriteLine, type Terminal } from './terminal.ts';

export interface ProgressLine {
  readonly onDone: (doing: string, done: number, of: number) => void;
  /** Removes the line, before other output and at the end. */
  readonly end: () => void;
}

const BETWEEN_MS = 200;
const BAR_WIDTH = 24;

export function showProgress(
  stream: Terminal = errorTerminal(),
  now: () => number = () => performance.now(),
  /** Formats a count. */
  unit: (count: number) => string = String,
): ProgressLine {
  let began = { doing: '', done: 0, ms: 0 };
  let shownMs: number | null = null;
  return {
    onDone(doing, done, of) {
      if (!stream.isTTY) return;
      const ms = now();
      if (doing !== began.doing) began = { doing, done, ms };
      else if (shownMs !== null && ms - shownMs < BETWEEN_MS) return;
      shownMs = ms;
      const perSecond = (1000 * (done - began.done)) / Math.max(1, ms - began.ms);
      overwriteLine(fitted(progressText(doing, done, of, perSecond, unit), stream.columns), stream);
    },
    end() {
      if (shownMs !== null) overwriteLine('', stream);
      shownMs = null;
    },
  };
}

/** Fits the text into one line, so that it can be removed: on a narrow terminal without the bar, or cut off. */
function fitted(text: string, columns = Infinity): string {
  if (text.length < columns) return text;
  return text.replace(/[█·]+ /, '').slice(0, columns - 1);
}

/** Without a rate while nothing is done; without a bar while the total is unknown. */
export function progressText(
  doing: string,
  done: number,
  of: number,
  perSecond: number,
  unit: (count: number) => string = String,
): string {
  if (of === 0) return `${doing} …`;
  const filled = Math.min(BAR_WIDTH, Math.floor((BAR_WIDTH * done) / of));
  const bar = '█'.repeat(filled) + '·'.repeat(BAR_WIDTH - filled);
  const speed = perSecond > 0 ? `  ${rateText(perSecond, unit)}, ${timeText((of - done) / perSecond)} left` : '';
  return `${doing} ${bar} ${unit(done)} of ${unit(of)}${speed}`;
}

const rateText = (perSecond: number, unit: (count: number) => string): string =>
  perSecond >= 1 ? `${unit(Number(perSecond.toPrecision(2)))}/s` : `${Number((1 / perSecond).toPrecision(2))} s each`;

/** Powers of 1000, as for disks and networks. */
export const bytesText = (bytes: number): string => inThousands(bytes, ['B', 'kB', 'MB', 'GB', 'TB']);

/** A model's parameters: thousand, million, billion. */
export const numbersText = (count: number): string => inThousands(count, ['numbers', 'k', 'M', 'B']);

function inThousands(count: number, units: readonly string[]): string {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)));
  const value = count / 1000 ** power;
  return `${power === 0 || value >= 99.5 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
