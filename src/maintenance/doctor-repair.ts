// The repairs that doctor.ts considers safe: deletes leftovers of ended jobs, moves away blobs that no row refers to, and
// rewrites the ledger where it is wrong. Everything else is left unchanged and returned.
import { makePrivate } from '#base/private-directory';
import type { AccountStore } from '#storage/account-store';
import type { BlobStore } from '#storage/blobs';
import { createChargedBlobs } from '#services/accounts/charged-blobs';
import type { Finding, Repair } from './finding.ts';
import { copyToQuarantine } from './quarantine.ts';

export interface RepairDeps {
  readonly blobs: BlobStore;
  readonly accounts: AccountStore;
  /** Prefix for blobs that no row refers to. Null: the store is a copy, and they are deleted. */
  readonly quarantine: string | null;
}

/** Returns the repaired findings. Can be repeated after a crash. */
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
