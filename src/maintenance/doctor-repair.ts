// The repairs that doctor.ts has found safe: deletes what ended jobs have left, moves away what no row refers to, and writes the
// ledger anew where it is wrong. Everything else stays as it is and is given back.
import type { AccountStore } from '#storage/account-store';
import type { BlobStore } from '#storage/blobs';
import { createChargedBlobs } from '#services/accounts/charged-blobs';
import type { Finding, Repair } from './finding.ts';
import { makePrivate } from './permission-findings.ts';
import { copyToQuarantine } from './quarantine.ts';

export interface RepairDeps {
  readonly blobs: BlobStore;
  readonly accounts: AccountStore;
  /** Prefix for what no row refers to. Null: it is a copy, and is deleted. */
  readonly quarantine: string | null;
}

/** Gives those that are repaired. Again after a crash: it goes on. */
export async function repairAll(findings: readonly Finding[], deps: RepairDeps): Promise<ReadonlySet<Finding>> {
  const repaired = new Set<Finding>();
  for (const finding of findings) {
    if (finding.repair === null) continue;
    await apply(finding.repair, deps);
    repaired.add(finding);
  }
  return repaired;
}

async function apply(repair: Repair, { blobs, accounts, quarantine }: RepairDeps): Promise<void> {
  switch (repair.do) {
    case 'quarantine_blobs':
      if (quarantine !== null) await copyToQuarantine(blobs, repair.blob, quarantine);
      return createChargedBlobs(blobs, accounts).delete(repair.blob);
    case 'delete_blobs':
      return createChargedBlobs(blobs, accounts).delete(repair.blob);
    case 'forget_ledger':
      return accounts.removeBlobs(repair.blob);
    case 'write_ledger':
      return accounts.addBlob(repair.stored);
    case 'make_private':
      return makePrivate(repair.directory);
  }
}
