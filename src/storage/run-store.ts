// Rows of runs: what they are, and their history line by line. Part of storage.ts.
import type { ArtifactUse, HistoryLine, Run, RunAbout, RunName } from '#domain/run';
import type { Listing, Order, Page } from '#domain/page';
import type { Payer } from './account-store.ts';

export type NewRun = RunName & Pick<Run, 'id'>;

export type UpsertOutcome =
  | { readonly outcome: 'created' | 'changed'; readonly run: Run }
  /** The payer may not store its rows: nothing has changed. */
  | { readonly outcome: 'over_limit' };

export interface HistoryPiece {
  /** Number of the first of these lines. What is there under a number is replaced. */
  readonly offset: number;
  readonly lines: readonly string[];
}

export interface RunFilter {
  readonly entity: string;
  readonly project?: string;
}

export interface RunStore {
  /** Makes the run, or changes what is named; the rest stays. Its rows are charged. */
  upsert(run: NewRun, change: Partial<RunAbout>, payer: Payer, nowMs: number): Promise<UpsertOutcome>;
  find(name: RunName): Promise<Run | null>;
  /** In order of creation, or from the newest on. */
  list(filter: RunFilter, page: Page, order?: Order): Promise<Listing<Run>>;
  /** Both in one transaction, charged. Null: the run is gone. */
  append(
    id: string,
    piece: HistoryPiece,
    change: Partial<RunAbout>,
    payer: Payer,
    nowMs: number,
  ): Promise<Run | 'over_limit' | null>;
  /** By number, from this one on. */
  history(id: string, from: number, limit: number): Promise<readonly HistoryLine[]>;
  /** Idempotent. */
  noteArtifact(id: string, artifactId: string, how: ArtifactUse): Promise<void>;
  /** Ids of artifacts, in no order; also of those that are gone. */
  artifactsOf(id: string, how: ArtifactUse, limit: number): Promise<readonly string[]>;
  /** In order of creation. */
  runsOf(artifactId: string, how: ArtifactUse, limit: number): Promise<readonly Run[]>;
  /** Its history goes too, and its rows are taken off the account. Idempotent: whether it was there. */
  delete(id: string): Promise<boolean>;
}
