// What `whetstone doctor`, `backup` and `restore` have done for them, and how they show that it goes on. On a terminal only:
// results go to stdout, and a log is no place for a bar.
import type { BackupReport } from '#services/backup';
import type { Examination, Finding, Looked } from '#services/doctor';

export type OnDone = (doing: 'checked' | 'copied', done: number, of: number) => void;

export interface DoctorReport {
  readonly findings: readonly (Finding & { readonly repaired: boolean })[];
  /** Null: the database does not let anything be looked at. */
  readonly looked: Looked | null;
}

/** `refused`: the findings are what the backup has lost. */
export interface RestoreReport extends Examination {
  readonly outcome: 'restored' | 'refused';
}

interface Request {
  readonly data: string | undefined;
  readonly onDone: OnDone;
}

/** All throw `invalid_request` with what to do. */
export interface Maintenance {
  doctor(request: Request & { readonly repair: boolean }): Promise<DoctorReport>;
  backup(request: Request & { readonly directory: string }): Promise<BackupReport>;
  restore(request: Request & { readonly directory: string; readonly acceptDamage: boolean }): Promise<RestoreReport>;
}

/** As cli.ts hands it over. */
export interface Maintained {
  /** The option that names the directory. */
  readonly dataOption: readonly [flags: string, description: string];
  readonly load: () => Promise<Maintenance>;
}

const BETWEEN_MS = 200;

/** `end` takes the line away. */
export function showProgress(stream: NodeJS.WriteStream = process.stderr): {
  readonly onDone: OnDone;
  readonly end: () => void;
} {
  let shownMs = 0;
  return {
    onDone(doing, done, of) {
      if (!stream.isTTY || Date.now() - shownMs < BETWEEN_MS) return;
      shownMs = Date.now();
      stream.write(`\r\x1b[K${doing} ${done} of ${of}`);
    },
    end() {
      if (shownMs > 0) stream.write('\r\x1b[K');
    },
  };
}

export function describeFinding({ kind, where, problem, remedy }: Finding, repaired = false): string {
  return `${kind}  ${where}: ${problem}. ${repaired ? 'Repaired' : 'To do'}: ${remedy}.`;
}

export const describeLooked = (looked: Looked): string =>
  `${looked.models} models, ${looked.checkpoints} checkpoints, ${looked.jobs} jobs with ${looked.events} events, ` +
  `${looked.artifactFiles} artifact files, ${looked.blobs} blobs with ${looked.sizeBytes} bytes`;
