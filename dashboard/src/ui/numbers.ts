// Numbers as people read them: short, and with no more digits than are meaningful.
import { inNumber } from '../../../src/base/counted.ts';

const THIN = '\u2009';

/** `1 234 567` */
export const whole = (value: number): string => value.toLocaleString('en').replaceAll(',', THIN).replace('-', '−');

/** `1 run`, `1 234 runs` */
export const counted = (count: number, noun: string): string => `${whole(count)} ${inNumber(count, noun)}`;

/** `12.3 M`: for counts whose exact number does not matter; titles have the exact number. */
export function compact(value: number): string {
  for (const [size, unit] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ] as const) {
    const shown = value / (unit === 'k' ? 1e3 : size);
    if (Math.abs(value) >= size) return `${shown.toFixed(Math.abs(shown) < 100 ? 1 : 0)}${THIN}${unit}`;
  }
  return Number.isInteger(value) ? whole(value) : value.toFixed(1);
}

/** Four significant digits: `0.1235`, `12.35`, `1.2e-7`. */
export function measured(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return whole(value);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(1).replace('-', '−').replace('e−', 'e-');
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4).replace('-', '−');
}

export const percent = (share: number): string => `${Math.round(100 * share)}${THIN}%`;

/** `12.3 MB` */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return `${(value / 1000 ** at).toFixed(at === 0 ? 0 : 1)}${THIN}${units[at]}`;
}
