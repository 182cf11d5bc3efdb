// What `whetstone doctor`, `backup` and `restore` are asked for, and what they answer.
import type { BackupReport } from './backup.ts';
import type { Examination, Looked } from './doctor.ts';
import type { Finding } from './finding.ts';

/** Nothing of nothing: how much there is to do is not known yet. */
export type OnDone = (doing: 'checking' | 'copying rows' | 'copying', doneBytes: number, ofBytes: number) => void;

export interface DoctorReport {
  readonly findings: readonly (Finding & { readonly repaired: boolean })[];
  /** Null: the database does not let anything be looked at. */
  readonly looked: Looked | null;
  /** Where the repair has moved what no row refers to; null: there was none. */
  readonly quarantine: string | null;
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
