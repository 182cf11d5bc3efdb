// The requests and reports of `whetstone doctor`, `backup` and `restore`.
import type { BackupReport } from './backup.ts';
import type { Examination, Looked } from './doctor.ts';
import type { Finding } from './finding.ts';

/** Called with 0 of 0 while the total is not known yet. */
export type OnDone = (doing: 'checking' | 'copying rows' | 'copying', doneBytes: number, ofBytes: number) => void;

export interface DoctorReport {
  readonly findings: readonly (Finding & { readonly repaired: boolean })[];
  /** Null: the database is too damaged to check anything else. */
  readonly looked: Looked | null;
  /** Where the repair moved blobs that no row refers to; null: there were none. */
  readonly quarantine: string | null;
}

/** `refused`: the findings list what the backup has lost. */
export interface RestoreReport extends Examination {
  readonly outcome: 'restored' | 'refused';
}

interface Request {
  readonly data: string | undefined;
  readonly onDone: OnDone;
}

/** All throw `invalid_request` with a remedy. */
export interface Maintenance {
  doctor(request: Request & { readonly repair: boolean }): Promise<DoctorReport>;
  backup(request: Request & { readonly directory: string }): Promise<BackupReport>;
  restore(request: Request & { readonly directory: string; readonly acceptDamage: boolean }): Promise<RestoreReport>;
}
