// Shares one trainer between jobs and Tinker's training clients, all of which see a TrainingEngine with room for everybody. A long call is
// cut into pieces of as many rows as the trainer computes at once; between two pieces a session may have to give its place to another,
// saved with its unapplied gradients, and goes on later with the same numbers. Does not know what its users train.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { OpenSessionOptions, SessionHolder, TrainingEngine, TrainingSession } from '#engine/training-engine';

/** How long a session keeps its place although others wait; changing hands may compile another graph, which takes seconds. */
const TURN_MS = 15_000;
/** A session that computes nothing for this long gives its place to one that waits. */
const IDLE_MS = 200;
/** How often the places are looked at while somebody waits: workers come and go, and sessions fall idle. */
const LOOK_MS = 100;
/** After a state could not be saved, for example on a full disk. */
const SAVE_AGAIN_MS = 5_000;

export interface TurnOptions {
  /** For the saved states of those that wait; made if it is missing. */
  readonly directory: string;
  /** Whether the trainer can change hands in the middle of an optimizer step. */
  readonly keepsGradients: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: 15 s. */
  readonly turnMs?: number;
}

/** A session as its user sees it, with or without a place at the trainer. */
interface Member {
  readonly holder: SessionHolder | undefined;
  /** What its holder's use of the trainer is counted under. */
  readonly account: object;
  /** Null: not at the trainer. */
  session: TrainingSession | null;
  /** The directory from which it goes on. */
  saved: string | null;
  hasGradients: boolean;
  isComputing: boolean;
  /** Resolves when it has given up its place, or could not. */
  leaving: Promise<void> | null;
  /** Pieces computed in this turn. */
  pieces: number;
  turnBeganMs: number;
  idleSinceMs: number;
  /** Its state could not be saved at this time. */
  unsavedAtMs: number;
}

interface Waiter {
  readonly member: Member;
  readonly take: () => void;
  /** Last told to its holder. */
  behind: SessionHolder | undefined;
}

/**
 * The engine's sessions by turns, first come, first served. A session that has had no turn waits for one piece of the others at most; one
 * that used more of the trainer than those that wait, or has had a whole turn, goes behind them.
 */
export function takeTurns(engine: TrainingEngine, options: TurnOptions): TrainingEngine {
  const { directory, keepsGradients, clock, log, turnMs = TURN_MS } = options;
  /** With a place at the trainer. */
  const inside = new Set<Member>();
  /** Computing so far, by account. */
  const used = new WeakMap<object, number>();
  const usedMs = ({ account }: Member): number => used.get(account) ?? 0;
  let waiting: readonly Waiter[] = [];
  let looking: NodeJS.Timeout | undefined;

  /** Fills free places, asks for others, and tells those that wait behind whom. */
  function look(): void {
    clearTimeout(looking);
    while (waiting.length > 0 && inside.size < Math.max(1, engine.status().sessionsMax)) {
      const [next, ...others] = waiting as [Waiter, ...Waiter[]];
      waiting = others;
      next.take();
    }
    let asked = waiting.length - [...inside].filter(({ leaving }) => leaving !== null).length;
    for (const member of inside) {
      if (asked <= 0) break;
      if (!givesWay(member)) continue;
      member.leaving = suspend(member).finally(() => {
        member.leaving = null;
        look();
      });
      asked--;
    }
    const [first] = inside;
    for (const waiter of waiting) tell(waiter, first?.holder ?? null);
    if (waiting.length > 0) looking = setTimeout(look, LOOK_MS).unref();
  }

  function givesWay(member: Member): boolean {
    const now = clock.now();
    if (!member.session || member.isComputing || member.leaving) return false;
    if (member.hasGradients && !keepsGradients()) return false;
    if (now - member.unsavedAtMs < SAVE_AGAIN_MS) return false;
    if (now - member.idleSinceMs >= IDLE_MS) return true;
    if (member.pieces === 0) return false;
    const usedLess = (other: Member) => usedMs(other) === 0 || usedMs(member) - usedMs(other) >= turnMs;
    return now - member.turnBeganMs >= turnMs || waiting.some((waiter) => usedLess(waiter.member));
  }

  function place(member: Member, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        member,
        behind: undefined,
        take() {
          signal.removeEventListener('abort', leave);
          inside.add(member);
          Object.assign(member, { pieces: 0, turnBeganMs: clock.now(), idleSinceMs: Infinity });
          tell(waiter, null);
          resolve();
        },
      };
      function leave(): void {
        waiting = waiting.filter((each) => each !== waiter);
        tell(waiter, null);
        look();
        reject(new AppError('cancelled', 'Waiting for the trainer was cancelled.', { cause: signal.reason }));
      }
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      waiting = [...waiting, waiter];
      look();
    });
  }

  /** Waits for a place, and opens the session there. */
  async function enter(member: Member, opening: OpenSessionOptions, signal: AbortSignal): Promise<TrainingSession> {
    await place(member, signal);
    try {
      member.session = await engine.open(opening, signal);
    } catch (error) {
      free(member);
      throw error;
    }
    member.idleSinceMs = clock.now();
    look();
    return member.session;
  }

  function free(member: Member): void {
    member.session = null;
    inside.delete(member);
    look();
  }

  /** Its place is free again once the state is saved. If it cannot be, the session stays. */
  async function suspend(member: Member): Promise<void> {
    const session = member.session!;
    let saved: string | null = null;
    try {
      await mkdir(directory, { recursive: true });
      saved = await mkdtemp(join(directory, 'turn-'));
      await session.save(saved, { resumable: true, ...(member.hasGradients ? { gradients: true } : {}) });
    } catch (err) {
      log.warn('trainer.turn_not_saved', { err });
      member.unsavedAtMs = clock.now();
      if (saved !== null) await forget(saved);
      return;
    }
    member.saved = saved;
    member.session = null;
    await session.close().catch((err: unknown) => log.warn('trainer.session_not_closed', { err }));
    inside.delete(member);
  }

  return {
    get limits() {
      return engine.limits;
    },
    status: () => engine.status(),
    close: () => engine.close(),

    async open(opening, signal, holder) {
      const member: Member = {
        ...{
          holder,
          account: holder ?? {},
          session: null,
          saved: null,
          hasGradients: false,
          isComputing: false,
          leaving: null,
        },
        ...{ pieces: 0, turnBeganMs: 0, idleSinceMs: 0, unsavedAtMs: -Infinity },
      };
      const { rowsAtOnce } = await enter(member, opening, signal);
      return sessionOf(member, rowsAtOnce, opening, signal);
    },
  };

  function sessionOf(
    member: Member,
    rowsAtOnce: number,
    opening: OpenSessionOptions,
    signal: AbortSignal,
  ): TrainingSession {
    let isClosed = false;
    let last: Promise<unknown> = Promise.resolve();

    async function present(): Promise<TrainingSession> {
      await member.leaving;
      if (member.session) return member.session;
      if (isClosed) throw new AppError('engine_unavailable', 'This training session is closed.');
      const from = member.saved!;
      const session = await enter(member, { ...opening, from, resetOptimizer: false }, signal).catch(notGoneOn);
      member.saved = null;
      await forget(from);
      return session;
    }

    /** One after another, also for a user that does not wait. */
    function piece<T>(work: (session: TrainingSession) => Promise<T>): Promise<T> {
      const done = last.then(() => compute(work));
      last = done.catch(() => {});
      return done;
    }

    async function compute<T>(work: (session: TrainingSession) => Promise<T>): Promise<T> {
      let session = await present();
      while (member.session !== session || member.leaving) session = await present(); // it may have had to leave at once
      const beganMs = clock.now();
      member.isComputing = true;
      try {
        return await work(session);
      } finally {
        const now = clock.now();
        member.isComputing = false;
        used.set(member.account, usedMs(member) + Math.max(1, now - beganMs));
        member.pieces++;
        member.idleSinceMs = now;
        look();
      }
    }

    async function inPieces<Row, T>(
      rows: readonly Row[],
      work: (session: TrainingSession, rows: readonly Row[]) => Promise<readonly T[]>,
    ): Promise<T[]> {
      const results: T[] = [];
      for (let first = 0; first < rows.length; first += rowsAtOnce) {
        const together = rows.slice(first, first + rowsAtOnce);
        results.push(...(await piece((session) => work(session, together))));
      }
      return results;
    }

    return {
      rowsAtOnce,
      logprobs: (rows) => inPieces(rows, (session, some) => session.logprobs(some)),
      forwardBackward: (rows, loss) =>
        inPieces(rows, (session, some) => {
          member.hasGradients = true;
          return session.forwardBackward(some, loss);
        }),
      optimStep: (params) => piece((session) => session.optimStep(params).finally(() => (member.hasGradients = false))),
      save: (target, how) => piece((session) => session.save(target, how)),
      async close() {
        if (isClosed) return;
        isClosed = true;
        await member.leaving;
        const { session, saved } = member;
        if (saved !== null) await forget(saved);
        await session?.close().finally(() => free(member));
      },
    };
  }
}

/** The same engine for one holder, who has the sessions that are opened through it. */
export const heldBy = (engine: TrainingEngine, holder: SessionHolder): TrainingEngine => ({
  get limits() {
    return engine.limits;
  },
  open: (options, signal) => engine.open(options, signal, holder),
  status: () => engine.status(),
  close: () => engine.close(),
});

function tell(waiter: Waiter, behind: SessionHolder | null): void {
  if (waiter.behind === (behind ?? undefined)) return;
  waiter.behind = behind ?? undefined;
  waiter.member.holder?.onWaiting(behind);
}

/** The trainer was lost before the session came back to it: no row is the reason (row-deaths.ts). */
export class TurnLost extends AppError {}

function notGoneOn(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'engine_unavailable') throw error;
  throw new TurnLost('engine_unavailable', error.message, { cause: error });
}

const forget = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true });
