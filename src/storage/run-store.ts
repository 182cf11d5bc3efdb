// Rows of runs: their properties, and their history line by line. Part of storage.ts.
import type { ArtifactUse, HistoryLine, Run, RunAbout, RunName, RunProject, RunState } from '#domain/run';
import type { Listing, Order, Page } from '#domain/page';
import type { Payer } from './account-store.ts';

export type NewRun = RunName & Pick<Run, 'id'>;

export type UpsertOutcome =
  | { readonly outcome: 'created' | 'changed'; readonly run: Run }
  /** The payer may not store these rows; nothing has changed. */
  | { readonly outcome: 'over_limit' };

export interface HistoryPiece {
  /** Number of the first of these lines. Existing lines with these numbers are replaced. */
  readonly offset: number;
  readonly lines: readonly string[];
}

export interface RunFilter {
  readonly entity: string;
  readonly project?: string;
  readonly state?: RunState;
  /** A text in the name, the display name, the group or the tags. The letters A to Z match in either case. */
  readonly search?: string;
}

export interface RunStore {
  /** Creates the run, or changes the given fields only. Its rows are charged to the payer. */
  upsert(run: NewRun, change: Partial<RunAbout>, payer: Payer, nowMs: number): Promise<UpsertOutcome>;
  find(name: RunName): Promise<Run | null>;
  /** In order of creation, or newest first. */
  list(filter: RunFilter, page: Page, order?: Order): Promise<Listing<Run>>;
  /** Ignores the state. A state that no run has is missing. */
  countByState(filter: RunFilter): Promise<Readonly<Partial<Record<RunState, number>>>>;
  /** In order of their names; the cursor is a name. */
  listProjects(entity: string, page: Page): Promise<Listing<RunProject>>;
  /** Both in one transaction, charged to the payer. Null: the run was deleted. */
  append(
    id: string,
    piece: HistoryPiece,
    change: Partial<RunAbout>,
    payer: Payer,
    nowMs: number,
  ): Promise<Run | 'over_limit' | null>;
  /**
   * By number, starting with this one: up to `limit` and up to some megabytes, but one if there is one. `stride` n: only numbers that n
   * divides.
   */
  history(id: string, from: number, limit: number, stride?: number): Promise<readonly HistoryLine[]>;
  /** Idempotent. */
  noteArtifact(id: string, artifactId: string, how: ArtifactUse): Promise<void>;
  /** Ids of artifacts, in no particular order; includes deleted artifacts. */
  artifactsOf(id: string, how: ArtifactUse, limit: number): Promise<readonly string[]>;
  /** In order of creation. */
  runsOf(artifactId: string, how: ArtifactUse, limit: number): Promise<readonly Run[]>;
  /** Also deletes its history and takes its rows off the account. Idempotent; returns whether it existed. */
  delete(id: string): Promise<boolean>;
}
