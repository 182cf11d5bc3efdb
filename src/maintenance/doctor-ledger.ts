// Compares the ledger, which says who pays for which blob, with the blobs. It is derived from them, so all of it can be repaired. Lost or
// damaged blobs have findings of their own, and stay on their owner's account until an operator decides.
import { isRows } from '#domain/blob-names';
import type { StoredBlob } from '#storage/account-store';
import type { Finding } from './finding.ts';
import type { Fault } from './stored-checks.ts';
import { isUnderWay, type StoredRows } from './stored-references.ts';
import type { StoredUnits } from './stored-units.ts';

export function findLedgerFaults(
  { references, ledger, jobs, models }: StoredRows,
  units: StoredUnits,
  faults: ReadonlyMap<string, Fault>,
): Finding[] {
  const unpaid = [...references.values()].flatMap(({ blob, owner, entity, keyId }): Finding[] => {
    const unit = units.get(blob);
    if (!unit || faults.has(blob)) return [];
    const sizeBytes = unit.sizeBytes - unit.listBytes;
    const noted = ledger.get(blob);
    if (!noted) {
      const stored: StoredBlob = { blob, entity, keyId, sizeBytes };
      const problem = `${owner} is not on any account`;
      const remedy = `add its ${sizeBytes} bytes to the account of ${entity}`;
      return [{ kind: 'blob_without_ledger', where: blob, problem, remedy, repair: { do: 'write_ledger', stored } }];
    }
    // The list of a copied directory was counted.
    if (noted.sizeBytes === sizeBytes || noted.sizeBytes === unit.sizeBytes) return [];
    const problem = `${owner} is on the account of ${noted.entity} with ${noted.sizeBytes} bytes, but has ${sizeBytes}`;
    const repair = { do: 'write_ledger', stored: { ...noted, sizeBytes } } as const;
    return [{ kind: 'wrong_ledger_size', where: blob, problem, remedy: `change it to ${sizeBytes} bytes`, repair }];
  });
  const forgotten = [...ledger.values()].flatMap(({ blob, entity, sizeBytes }): Finding[] => {
    if (isRows(blob) || units.has(blob) || faults.has(blob) || isUnderWay(blob, { jobs, models })) return [];
    const problem = `is on the account of ${entity} with ${sizeBytes} bytes, but does not exist`;
    const remedy = 'remove it from the account';
    return [{ kind: 'ledger_without_blob', where: blob, problem, remedy, repair: { do: 'forget_ledger', blob } }];
  });
  return [...unpaid, ...forgotten];
}
