// Dates as Python's strftime writes them in the C locale, for templates that state today's date.

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

const FIELDS: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getFullYear()),
  y: (date) => pad(date.getFullYear() % 100),
  m: (date) => pad(date.getMonth() + 1),
  d: (date) => pad(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2, ' '),
  B: (date) => MONTHS[date.getMonth()]!,
  b: (date) => MONTHS[date.getMonth()]!.slice(0, 3),
  A: (date) => DAYS[date.getDay()]!,
  a: (date) => DAYS[date.getDay()]!.slice(0, 3),
  H: (date) => pad(date.getHours()),
  I: (date) => pad(date.getHours() % 12 || 12),
  M: (date) => pad(date.getMinutes()),
  S: (date) => pad(date.getSeconds()),
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  j: (date) => pad(dayOfYear(date), 3),
  C: (date) => pad(Math.floor(date.getFullYear() / 100)),
  D: (date) => strftime(date, '%m/%d/%y'),
  F: (date) => strftime(date, '%Y-%m-%d'),
  G: (date) => String(isoWeek(date).year),
  P: (date) => (date.getHours() < 12 ? 'am' : 'pm'),
  R: (date) => strftime(date, '%H:%M'),
  T: (date) => strftime(date, '%H:%M:%S'),
  U: (date) => pad(Math.floor((dayOfYear(date) + 6 - date.getDay()) / 7)),
  V: (date) => pad(isoWeek(date).week),
  W: (date) => pad(Math.floor((dayOfYear(date) + 6 - weekday(date)) / 7)),
  X: (date) => strftime(date, '%H:%M:%S'),
  Z: () => '', // the time has no zone in Transformers
  c: (date) => strftime(date, '%a %b %e %H:%M:%S %Y'),
  f: (date) => pad(date.getMilliseconds() * 1000, 6),
  g: (date) => pad(isoWeek(date).year % 100),
  h: (date) => strftime(date, '%b'),
  k: (date) => String(date.getHours()).padStart(2, ' '),
  l: (date) => String(date.getHours() % 12 || 12).padStart(2, ' '),
  n: () => '\n',
  r: (date) => strftime(date, '%I:%M:%S %p'),
  t: () => '\t',
  u: (date) => String(weekday(date) + 1),
  w: (date) => String(date.getDay()),
  x: (date) => strftime(date, '%m/%d/%y'),
  z: () => '',
  '%': () => '%',
};

/** From Monday, which is 0. */
const weekday = (date: Date): number => (date.getDay() + 6) % 7;

/** From 1. */
const dayOfYear = (date: Date): number =>
  Math.round(
    (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0, 0)) / 86_400_000,
  );

/** A week belongs to the year that has its Thursday. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 3 - weekday(date));
  return { year: thursday.getFullYear(), week: Math.ceil(dayOfYear(thursday) / 7) };
}

/** Local time. `%-d` omits the leading zero, `%_d` makes it a space, `%^a` writes capitals; unknown directives stay as written. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%([-_^]?)([a-zA-Z%])/g, (written: string, flag: string, field: string) => {
    if (!Object.hasOwn(FIELDS, field)) return written;
    const value = FIELDS[field]!(date);
    if (flag === '-') return value.replace(/^[0 ]+(?=.)/, '');
    if (flag === '_') return value.replace(/^0+(?=.)/, (zeros) => ' '.repeat(zeros.length));
    return flag === '^' ? value.toUpperCase() : value;
  });
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
