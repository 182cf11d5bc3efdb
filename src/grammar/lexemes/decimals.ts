// Decimal numbers between two bounds, as a grammar: digit by digit, so that its size grows with the number of digits of the bounds
// and not with their distance. Knows magnitudes (numbers from 0 up) only; numbers.ts handles signs.
import { alternatives, digitsBetween, literal } from '../gbnf.ts';

/** A number from 0 up, in decimal notation: "12", "5" is 12.5. `fraction` has no trailing zeros. */
export interface Magnitude {
  readonly whole: bigint;
  readonly fraction: string;
}

export interface Bound extends Magnitude {
  /** Whether the bound itself is allowed. */
  readonly inclusive: boolean;
}

/** Digits that a double represents exactly: a longer number could be read as an excluded bound. */
const DIGITS_EXACT = 15;

/** How many digits may follow the point after this integer part. */
function roomBeside(whole: bigint): number {
  const digits = whole.toString().length;
  return digits < DIGITS_EXACT ? DIGITS_EXACT - digits : digits === DIGITS_EXACT ? 1 : 0;
}

/** Returns expressions that together match the numbers between the bounds; empty if there are no such numbers. */
export function decimalsBetween(low: Bound, high: Bound): string[] {
  if (low.whole > high.whole) return [];
  if (low.whole === high.whole) return withFraction(low.whole, between(low, high, roomBeside(low.whole)));
  const parts = withFraction(low.whole, from(low, roomBeside(low.whole)));
  for (const { first, last } of byLength(low.whole + 1n, high.whole - 1n)) {
    const room = roomBeside(first);
    parts.push(`${digitsBetween(first, last)}${room === 0 ? '' : ` ("." [0-9]{1,${room}})?`}`);
  }
  return [...parts, ...withFraction(high.whole, upTo(high, roomBeside(high.whole)))];
}

/** The integers from `low` to `high`, grouped by their number of digits. */
export function byLength(low: bigint, high: bigint): { first: bigint; last: bigint }[] {
  const runs: { first: bigint; last: bigint }[] = [];
  for (let first = low; first <= high;) {
    const longest = 10n ** BigInt(first.toString().length) - 1n;
    const last = longest < high ? longest : high;
    runs.push({ first, last });
    first = last + 1n;
  }
  return runs;
}

/** What may follow the integer part: nothing (`none`), digits after a point, or either. */
interface Fraction {
  readonly none: boolean;
  /** Null: no digits may follow. */
  readonly digits: string | null;
}

function withFraction(whole: bigint, { none, digits }: Fraction): string[] {
  const point = digits === null ? null : `"." ${digits}`;
  if (point === null) return none ? [literal(whole.toString())] : [];
  return [`${literal(whole.toString())} ${none ? `(${point})?` : point}`];
}

const from = ({ fraction, inclusive }: Bound, room: number): Fraction =>
  fraction === '' && inclusive
    ? { none: true, digits: room > 0 ? `[0-9]{1,${room}}` : null }
    : { none: false, digits: above(fraction, inclusive, room) };

const upTo = ({ fraction, inclusive }: Bound, room: number): Fraction =>
  fraction === '' ? { none: inclusive, digits: null } : { none: true, digits: below(fraction, inclusive, room) };

function between(low: Bound, high: Bound, room: number): Fraction {
  const none = low.fraction === '' && low.inclusive && (high.fraction !== '' || high.inclusive);
  return { none, digits: within(low.fraction, low.inclusive, high.fraction, high.inclusive, room) };
}

const anyDigits = (room: number): string => (room > 0 ? `[0-9]{0,${room}}` : '""');

const oneOfParts = (parts: readonly string[]): string | null =>
  parts.length === 0 ? null : parts.length === 1 ? parts[0]! : alternatives(parts);

const digit = (first: number, last: number): string => (first === last ? `"${first}"` : `[${first}-${last}]`);

/** Digit strings whose fraction is greater than `bound`, or equal if it is included. May be empty if that is equal. */
function above(bound: string, inclusive: boolean, room: number): string | null {
  if (bound === '') return inclusive ? anyDigits(room) : notZero(room);
  if (room <= 0) return inclusive ? literal(bound) : null;
  const [first, rest] = [Number(bound[0]), bound.slice(1)];
  const parts = first < 9 ? [`${digit(first + 1, 9)} ${anyDigits(room - 1)}`] : [];
  const next = above(rest, inclusive, room - 1);
  if (next !== null) parts.push(`"${first}" ${next}`);
  return oneOfParts(parts);
}

function notZero(room: number): string | null {
  if (room <= 0) return null;
  const zeros = Math.floor((room - 1) / 2);
  return `${zeros > 0 ? `"0"{0,${zeros}} ` : ''}[1-9] ${anyDigits(room - 1 - zeros)}`;
}

/** Non-empty digit strings whose fraction is less than `bound`, or equal if it is included. */
function below(bound: string, inclusive: boolean, room: number): string | null {
  if (bound === '' || room <= 0) return null;
  const [first, rest] = [Number(bound[0]), bound.slice(1)];
  const parts = first > 0 ? [`${digit(0, first - 1)} ${anyDigits(room - 1)}`] : [];
  if (rest !== '' || inclusive) parts.push(behind(first, rest !== '', below(rest, inclusive, room - 1)));
  return oneOfParts(parts);
}

/** Non-empty digit strings whose fraction is between two bounds. */
function within(low: string, withLow: boolean, high: string, withHigh: boolean, room: number): string | null {
  if (low === '' && withLow) return below(high, withHigh, room);
  if (high === '') return null;
  if (room <= 0) return low === high && withLow && withHigh ? literal(low) : null;
  const [first, last] = [Number(low[0] ?? 0), Number(high[0])];
  const [restLow, restHigh] = [low.slice(1), high.slice(1)];
  if (first > last) return null;
  if (first === last) {
    const rest = within(restLow, withLow, restHigh, withHigh, room - 1);
    const ends = restLow === '' && withLow && (restHigh !== '' || withHigh);
    return rest === null && !ends ? null : behind(first, ends, rest);
  }
  const parts: string[] = [];
  const more = above(restLow, withLow, room - 1);
  if (more !== null) parts.push(`"${first}" ${more}`);
  if (last - first > 1) parts.push(`${digit(first + 1, last - 1)} ${anyDigits(room - 1)}`);
  if (restHigh !== '' || withHigh) parts.push(behind(last, true, below(restHigh, withHigh, room - 1)));
  return oneOfParts(parts);
}

const behind = (first: number, mayEnd: boolean, rest: string | null): string =>
  rest === null ? `"${first}"` : `"${first}" ${mayEnd ? `(${rest})?` : rest}`;
