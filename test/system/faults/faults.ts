// Decides by a seed which operation fails and how, and counts the faults. Points are named, so that a failing test shows where it
// started.
import { createRandom } from '#base/random';

export type Fault =
  | 'kill before' // the process ends; the operation never began
  | 'kill after' // it ends; the operation was done, nobody heard of it
  | 'kill halfway' // it ends in the middle of a write
  | 'database locked'
  | 'database away' // the connection is lost before the statement
  | 'answer lost' // the statement was done, the connection is lost
  | 'disk full'
  | 'read-only disk'
  | 'disk fault'
  | 'corrupt blob' // a bit of a file that can be made again flips, and the process ends
  | 'truncated blob'
  | 'clock jump'
  | 'trainer dies'
  | 'half-open socket';

export class Killed extends Error {}

export interface Faults {
  /**
   * Null: all is well. `point` is where: a statement, `put checkpoints/…`, `optimStep`. What is rare among operations goes
   * wrong more often by `frequency`.
   */
  next(point: string, kinds: readonly Fault[], frequency?: number): Fault | null;
  /** Stops all faults. */
  cease(): void;
  readonly total: () => number;
  readonly counts: ReadonlyMap<string, number>;
  /** The latest faults, for the message of a failing test. */
  readonly recent: readonly string[];
}

/** A jump of the clock does not fail the operation itself: `jumpClock` does it, with a number from −1 to 1, and the operation continues. */
export function createFaults(seed: number, rate: number, jumpClock: (where: number) => void): Faults {
  const random = createRandom(seed);
  const counts = new Map<string, number>();
  const recent: string[] = [];
  let total = 0;
  let active = true;
  return {
    next(point, kinds, frequency = 1) {
      if (!active || random.next() >= rate * frequency) return null;
      const choice = [...kinds, 'clock jump' as const];
      const fault = choice[Math.floor(random.next() * choice.length)]!;
      total++;
      counts.set(fault, (counts.get(fault) ?? 0) + 1);
      recent.push(`${fault} at ${point}`);
      if (recent.length > 20) recent.shift();
      if (fault !== 'clock jump') return fault;
      jumpClock(2 * random.next() - 1);
      return null;
    },
    cease: () => void (active = false),
    total: () => total,
    counts,
    recent,
  };
}

/** The errors in the words of the operating system and the drivers. */
export const failure = (fault: Fault): Error => Object.assign(new Error(fault), { code: CODES[fault] ?? 'EUNKNOWN' });

const CODES: Readonly<Partial<Record<Fault, string>>> = {
  'database locked': 'SQLITE_BUSY',
  'database away': 'ECONNRESET',
  'answer lost': 'ECONNRESET',
  'disk full': 'ENOSPC',
  'read-only disk': 'EROFS',
  'disk fault': 'EIO',
};
