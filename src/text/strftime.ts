// Dates as Python's strftime writes them with glibc in the C locale, for templates that state today's date. A directive is `%`, flags, a
// width, `E` or `O`, and a letter; what glibc does not know stays as written. The date has no time zone.
import { TemplateError } from './jinja/errors.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** A directive: between `%` and its letter. */
interface Style {
  /** The last of `-`, `_` and `0`; empty: none. */
  readonly pad: string;
  readonly isUpper: boolean;
  /** `#`: the other case. */
  readonly isOther: boolean;
  /** 0: none. */
  readonly width: number;
}

/** What a letter stands for. */
interface Field {
  /** Modifiers with which it stands for nothing. */
  readonly without: string;
  readonly write: (date: Date, style: Style) => string;
}

const number = (digits: number, of: (date: Date) => number, pad: '0' | '_' = '0', without = 'E'): Field => ({
  without,
  write(date, { pad: asked, width }) {
    const written = String(of(date));
    const filled = asked || pad;
    return filled === '-' ? written : written.padStart(Math.max(digits, width), filled === '_' ? ' ' : '0');
  },
});

const text = (of: (date: Date) => string, without = '', other: 'upper' | 'lower' = 'upper'): Field => ({
  without,
  write(date, { isUpper, isOther }) {
    if (isOther && other === 'lower') return of(date).toLowerCase();
    return isUpper || isOther ? of(date).toUpperCase() : of(date);
  },
});

const parts = (format: string, without: string): Field => ({
  without,
  write: (date, { isUpper }) => (isUpper ? expand(date, format).toUpperCase() : expand(date, format)),
});

const NEITHER = 'EO';
const halfDay = (date: Date): string => (date.getHours() < 12 ? 'AM' : 'PM');
const hour12 = (date: Date): number => date.getHours() % 12 || 12;
const dayName = (date: Date): string => DAYS[date.getDay()]!;
const monthName = (date: Date): string => MONTHS[date.getMonth()]!;
const SHORT_MONTH = text((date) => monthName(date).slice(0, 3), 'E');

const FIELDS: Readonly<Record<string, Field>> = {
  Y: number(4, (date) => date.getFullYear(), '0', 'O'),
  y: number(2, (date) => date.getFullYear() % 100, '0', ''),
  C: number(2, (date) => Math.floor(date.getFullYear() / 100), '0', ''),
  G: number(4, (date) => isoWeek(date).year),
  g: number(2, (date) => isoWeek(date).year % 100),
  m: number(2, (date) => date.getMonth() + 1),
  d: number(2, (date) => date.getDate()),
  e: number(2, (date) => date.getDate(), '_'),
  H: number(2, (date) => date.getHours()),
  k: number(2, (date) => date.getHours(), '_'),
  I: number(2, hour12),
  l: number(2, hour12, '_'),
  M: number(2, (date) => date.getMinutes()),
  S: number(2, (date) => date.getSeconds()),
  s: number(1, (date) => Math.floor(date.getTime() / 1000), '0', ''),
  j: number(3, dayOfYear),
  U: number(2, (date) => Math.floor((dayOfYear(date) + 6 - date.getDay()) / 7)),
  W: number(2, (date) => Math.floor((dayOfYear(date) + 6 - weekday(date)) / 7)),
  V: number(2, (date) => isoWeek(date).week),
  u: number(1, (date) => weekday(date) + 1, '0', ''),
  w: number(1, (date) => date.getDay()),
  A: text(dayName, NEITHER),
  a: text((date) => dayName(date).slice(0, 3), NEITHER),
  B: text(monthName, 'E'),
  b: SHORT_MONTH,
  h: SHORT_MONTH,
  p: text(halfDay, '', 'lower'),
  P: { without: '', write: (date) => halfDay(date).toLowerCase() },
  n: text(() => '\n'),
  t: text(() => '\t'),
  '%': text(() => '%'),
  Z: text(() => ''),
  c: parts('%a %b %e %H:%M:%S %Y', 'O'),
  x: parts('%m/%d/%y', 'O'),
  X: parts('%H:%M:%S', 'O'),
  D: parts('%m/%d/%y', NEITHER),
  F: parts('%Y-%m-%d', NEITHER),
  R: parts('%H:%M', ''),
  T: parts('%H:%M:%S', ''),
  r: parts('%I:%M:%S %p', ''),
};

/** From Monday, which is 0. */
const weekday = (date: Date): number => (date.getDay() + 6) % 7;

/** From 1. */
function dayOfYear(date: Date): number {
  const [day, before] = [
    Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()),
    Date.UTC(date.getFullYear(), 0, 0),
  ];
  return Math.round((day - before) / 86_400_000);
}

/** A week belongs to the year that has its Thursday. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 3 - weekday(date));
  return { year: thursday.getFullYear(), week: Math.ceil(dayOfYear(thursday) / 7) };
}

/** No date is as wide, and a template of a request could ask for gigabytes. */
const WIDTH_MAX = 200;

/** What Python writes itself before glibc sees the format. */
const OF_PYTHON: Readonly<Record<string, (date: Date) => string>> = {
  '%f': (date) => String(date.getMilliseconds() * 1000).padStart(6, '0'),
  '%z': () => '',
  '%Z': () => '',
};

/** Local time. Throws TemplateError for a width that is no width of a date. */
export const strftime = (date: Date, format: string): string =>
  expand(
    date,
    format.replace(/%[^]/gu, (pair) => OF_PYTHON[pair]?.(date) ?? pair),
  );

const expand = (date: Date, format: string): string =>
  format.replace(
    /%([-_0^#]*)(\d*)([EO]?)([^]?)/gu,
    (written: string, flags: string, digits: string, modifier: string, letter: string) => {
      const width = Number(digits);
      if (width > WIDTH_MAX) throw new TemplateError(`strftime_now cannot write the width of ${written.slice(0, 20)}`);
      if (letter === 'z') return ''; // whatever its width is
      const style: Style = {
        pad: /[-_0](?=[\^#]*$)/.exec(flags)?.[0] ?? '',
        isUpper: flags.includes('^'),
        isOther: flags.includes('#'),
        width,
      };
      const field = Object.hasOwn(FIELDS, letter) ? FIELDS[letter]! : null;
      const isKnown = field !== null && (modifier === '' || !field.without.includes(modifier));
      const made = isKnown ? field.write(date, style) : style.isUpper ? written.toUpperCase() : written;
      return (style.pad === '0' ? '0' : ' ').repeat(Math.max(0, width - Array.from(made).length)) + made;
    },
  );
