// What somebody with a place in a trainer's queue waits behind, said once it has lasted a while, one note after another. Does not know where
// the notes go.
import type { WaitingFor } from '#domain/training-job';
import type { HolderName, SessionHolder } from '#engine/training-engine';

/** Most turns come sooner. */
const SAID_AFTER_MS = 1_000;

export interface DelayedWaits {
  readonly holder: SessionHolder;
  /** Null: it waits no longer, which is said at once. */
  waitsFor(what: WaitingFor | null): void;
  /** Nothing more is said. */
  end(): void;
}

export function createDelayedWaits(
  name: HolderName,
  note: (now: WaitingFor | null) => Promise<void>,
  report: (err: unknown) => void,
): DelayedWaits {
  let waitsFor: WaitingFor | null = null;
  let saying: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  function say(): void {
    saying = undefined;
    const now = waitsFor;
    last = last.then(() => note(now)).catch(report);
  }

  function change(what: WaitingFor | null): void {
    waitsFor = what;
    if (what === null) {
      clearTimeout(saying);
      say();
    } else saying ??= setTimeout(say, SAID_AFTER_MS).unref();
  }

  return {
    holder: { name, onWaiting: (behind) => change(behind && seenBy(name.entity, behind.name)) },
    waitsFor: change,
    end: () => clearTimeout(saying),
  };
}

/** Ids are told to their own entity only. */
export const seenBy = (entity: string, { kind, id, entity: owner }: HolderName): WaitingFor => ({
  kind,
  id: owner === entity ? id : null,
});

export const isSameWait = (a: WaitingFor | null, b: WaitingFor | null): boolean =>
  a?.kind === b?.kind && a?.id === b?.id;
