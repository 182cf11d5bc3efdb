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
  j: (date) =>
    pad(
      Math.round(
        (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0, 0)) /
          86_400_000,
      ),
      3,
    ),
  F: (date) => strftime(date, '%Y-%m-%d'),
  T: (date) => strftime(date, '%H:%M:%S'),
  '%': () => '%',
};

/** Local time. `%-d` omits the leading zero; unknown directives stay as written. */
export function strftime(date: Date, format: string): string {
  return format.replace(/%(-?)([a-zA-Z%])/g, (written: string, bare: string, field: string) => {
    const value = Object.hasOwn(FIELDS, field) ? FIELDS[field]!(date) : written;
    return bare ? value.replace(/^[0 ]+(?=.)/, '') : value;
  });
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');
