// Compares episodes with their calls, and with the account that they are on. Both are written in one transaction, so a difference was
// made by hand or by a damaged database. The charge can be written again; calls cannot.
import { counted } from '#base/counted';
import { isEpisodeRows } from '#domain/blob-names';
import type { StoredBlob } from '#storage/account-store';
import type { InventoriedEpisode } from '#storage/inventory';
import type { Finding } from './finding.ts';
import type { StoredRows } from './stored-references.ts';

export const findEpisodeFaults = ({ episodes, ledger }: Pick<StoredRows, 'episodes' | 'ledger'>): Finding[] => [
  ...[...episodes.values()].flatMap(lostCalls),
  ...[...episodes].flatMap(([blob, episode]) => wrongCharge(blob, episode, ledger.get(blob))),
  ...[...ledger.values()].flatMap(({ blob, entity, sizeBytes }): Finding[] => {
    if (!isEpisodeRows(blob) || episodes.has(blob)) return [];
    const problem = `is on the account of ${entity} with ${sizeBytes} bytes, but there is no such episode`;
    const remedy = 'remove it from the account';
    return [{ kind: 'ledger_without_blob', where: blob, problem, remedy, repair: { do: 'forget_ledger', blob } }];
  }),
];

function lostCalls({ id, name, entity, keepsCalls, ...episode }: InventoriedEpisode): Finding[] {
  const expected = keepsCalls ? episode.callCount : 0;
  if (episode.storedCalls === expected && episode.storedCallBytes === episode.callBytes) return [];
  const problem = `episode ${name} of ${entity} has ${counted(episode.storedCalls, 'call')} of ${episode.storedCallBytes} bytes, but should have ${expected} of ${episode.callBytes}`;
  const remedy = 'restore the database from a backup, or delete that episode';
  return [{ kind: 'missing_data', where: `episode ${id}`, problem, remedy, repair: null }];
}

function wrongCharge(
  blob: string,
  { name, entity, sizeBytes }: InventoriedEpisode,
  noted: StoredBlob | undefined,
): Finding[] {
  if (noted?.sizeBytes === sizeBytes) return [];
  const stored = { blob, entity, keyId: noted?.keyId ?? '', sizeBytes };
  const repair = { do: 'write_ledger', stored } as const;
  if (noted) {
    const problem = `episode ${name} is on the account of ${noted.entity} with ${noted.sizeBytes} bytes, but has ${sizeBytes}`;
    return [{ kind: 'wrong_ledger_size', where: blob, problem, remedy: `change it to ${sizeBytes} bytes`, repair }];
  }
  const problem = `episode ${name} is not on any account`;
  const remedy = `add its ${sizeBytes} bytes to the account of ${entity}`;
  return [{ kind: 'blob_without_ledger', where: blob, problem, remedy, repair }];
}
