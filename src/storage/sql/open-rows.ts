// The rows of a database whose version is known to match, without migrating anything: for commands that read a
// store, or a backup on a read-only disk.
import { Kysely } from 'kysely';
import type { AccountStore } from '../account-store.ts';
import type { Inventory } from '../inventory.ts';
import { createAccountStore } from './accounts.ts';
import type { Database } from './copy-rows.ts';
import { createInventory } from './inventory.ts';
import { versionFaults, type DatabaseFault } from './inspect-sqlite.ts';
import type { Tables } from './rows.ts';

export interface OpenRows {
  readonly inventory: Inventory;
  /** Writes fail if the database is opened for reading. */
  readonly accounts: AccountStore;
  /** Empty: the schema is of this version. */
  faults(): Promise<DatabaseFault[]>;
  close(): Promise<void>;
}

export function openRows({ dialect }: Database): OpenRows {
  const db = new Kysely<Tables>({ dialect: dialect.kysely });
  return {
    inventory: createInventory(db),
    accounts: createAccountStore(db),
    faults: () => versionFaults(db),
    close: () => db.destroy(),
  };
}
