// The repairs that doctor.ts has found safe: deletes what nobody refers to, and writes the ledger anew where it is wrong.
// Everything else stays as it is and is given back.
import type { AccountStore } from '#storage/account-store';
import type { BlobStore } from '#storage/blobs';
import { createChargedBlobs } from './charged-blobs.ts';
import type { Finding, Repair } from './doctor.ts';

export interface RepairDeps {
  readonly blobs: BlobStore;
  readonly accounts: AccountStore;
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

async function apply(repair: Repair, { blobs, accounts }: RepairDeps): Promise<void> {
  switch (repair.do) {
    case 'delete_blobs':
      return createChargedBlobs(blobs, accounts).delete(repair.blob);
    case 'forget_ledger':
      return accounts.removeBlobs(repair.blob);
    case 'write_ledger':
      return accounts.addBlob(repair.stored);
  }
}
