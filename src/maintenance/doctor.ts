// Finds what is wrong with a store: rows against blobs, blobs against their checksums, jobs against their events, and the ledger.
// Decides what each finding means and what can be repaired without loss; doctor-repair.ts repairs it. The store must not be
// in use: work in progress would look lost.
import { parseBlobOwner } from '#domain/blob-names';
import type { BlobReader } from '#storage/blobs';
import type { Inventory, InventoriedJob } from '#storage/inventory';
import { findEpisodeFaults } from './doctor-episodes.ts';
import { findLedgerFaults } from './doctor-ledger.ts';
import type { Finding, Repair } from './finding.ts';
import { bytesOf, countReads, type OnProgress } from './read-progress.ts';
import { findStoredFault, type Fault } from './stored-checks.ts';
import { isUnderWay, readStoredRows, type StoredReference, type StoredRows } from './stored-references.ts';
import { readStoredUnits, type StoredUnits } from './stored-units.ts';

export interface Looked {
  readonly models: number;
  readonly checkpoints: number;
  readonly jobs: number;
  readonly events: number;
  readonly artifactFiles: number;
  readonly blobs: number;
  readonly sizeBytes: number;
}

export interface Examination {
  readonly findings: readonly Finding[];
  readonly looked: Looked;
}

export interface ExamineDeps {
  readonly inventory: Inventory;
  readonly blobs: BlobReader;
  /** Checks what rows refer to; a caller with earlier results need not read it again. */
  readonly check?: (reference: StoredReference) => Promise<Fault | null>;
  readonly onProgress?: OnProgress;
}

export async function examine({ inventory, blobs, onProgress, ...deps }: ExamineDeps): Promise<Examination> {
  const rows = await readStoredRows(inventory);
  const units = await readStoredUnits(blobs, rows.references);
  const faults = new Map<string, Fault>();
  const needed = [...rows.references.values()].filter((reference) => reference.needed);
  const ofBytes = bytesOf(needed, units);
  let doneBytes = 0;
  const counted = countReads(blobs, (bytes) => onProgress?.((doneBytes += bytes), ofBytes));
  onProgress?.(doneBytes, ofBytes);
  const check = deps.check ?? ((reference) => findStoredFault(counted, reference));
  for (const reference of needed) {
    const fault = await check(reference);
    if (fault) faults.set(reference.blob, fault);
  }
  const findings = [
    ...[...rows.jobs.values()].flatMap(eventFaults),
    ...duplicates(rows),
    ...[...faults].map(([blob, { kind, problem }]): Finding => {
      const { owner, remedy } = rows.references.get(blob)!;
      return { kind: `${kind}_data`, where: blob, problem: `${owner} ${problem}`, remedy, repair: null };
    }),
    ...orphans(rows, units),
    ...findLedgerFaults(rows, units, faults),
    ...findEpisodeFaults(rows),
  ];
  return { findings, looked: count(rows, units) };
}

function eventFaults({ id, status, events }: InventoriedJob): Finding[] {
  const { count, firstOrdinal, lastOrdinal, endedCount, failedCount, closingOrdinal } = events;
  const problems: string[] = [];
  if (count > 0 && (firstOrdinal !== 0 || lastOrdinal !== count - 1))
    problems.push(`has ${count} events numbered ${firstOrdinal} to ${lastOrdinal}: some are missing`);
  const closing = [status === 'succeeded' ? 1 : 0, status === 'failed' || status === 'cancelled' ? 1 : 0];
  if (endedCount !== closing[0] || failedCount !== closing[1])
    problems.push(`is ${status} and has ${endedCount} training_ended and ${failedCount} training_failed events`);
  else if (closingOrdinal !== null && closingOrdinal !== lastOrdinal)
    problems.push('has events after the one that ends it');
  const remedy = 'restore the database from a backup';
  return problems.map((problem) => ({ kind: 'bad_events', where: `job ${id}`, problem, remedy, repair: null }));
}

function duplicates({ checkpoints }: StoredRows): Finding[] {
  const seen = new Map<string, string>();
  return checkpoints.flatMap(({ id, modelId, step }): Finding[] => {
    const first = seen.get(`${modelId}@${step}`);
    seen.set(`${modelId}@${step}`, id);
    if (first === undefined) return [];
    const problem = `model ${modelId} has step ${step} twice, also as ${first}`;
    const remedy = 'restore the database from a backup';
    return [{ kind: 'duplicate_checkpoint', where: `checkpoint ${id}`, problem, remedy, repair: null }];
  });
}

function orphans({ references, jobs, models }: StoredRows, units: StoredUnits): Finding[] {
  const isOurs = [...units.keys()].some((blob) => references.has(blob)); // else this may be the wrong database
  return [...units].flatMap(([blob, { sizeBytes }]): Finding[] => {
    if (references.has(blob) || isUnderWay(blob, { jobs, models })) return [];
    const owner = parseBlobOwner(blob);
    const job = owner?.kind === 'job' ? jobs.get(owner.jobId) : undefined;
    const repair: Repair | null = isOurs ? { do: job ? 'delete_blobs' : 'quarantine_blobs', blob, sizeBytes } : null;
    const remedy = isOurs
      ? `${job ? 'delete it' : 'move it to quarantine'} (${sizeBytes} bytes)`
      : 'no row of this database refers to any blob: check that it is the right database';
    return [
      job
        ? {
            kind: 'leftover_job_data',
            where: blob,
            problem: `belongs to job ${job.id}, which has ended`,
            remedy,
            repair,
          }
        : { kind: 'orphan_blob', where: blob, problem: 'no row refers to it', remedy, repair },
    ];
  });
}

const count = (rows: StoredRows, units: StoredUnits): Looked => ({
  models: rows.models.size,
  checkpoints: rows.checkpoints.length,
  jobs: rows.jobs.size,
  events: [...rows.jobs.values()].reduce((sum, { events }) => sum + events.count, 0),
  artifactFiles: rows.contentCount,
  blobs: [...units.values()].reduce((sum, { files }) => sum + files, 0),
  sizeBytes: [...units.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
});
