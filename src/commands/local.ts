// Commands that work on a data directory or database, even while a server uses it.
import type { Option } from 'commander';
import type { ApiKeys } from '#services/accounts/api-keys';
import type { AccountStore } from '#storage/account-store';

export interface Keyring {
  readonly apiKeys: ApiKeys;
  readonly accounts: AccountStore;
  close(): Promise<void>;
}

/** Provided by program.ts. */
export interface Local {
  /** The option that names the directory. */
  readonly dataOption: () => Option;
  readonly openKeyring: (data: string | undefined) => Promise<Keyring>;
  /** Throws `not_found` if there is no store. */
  readonly openExistingKeyring: (data: string | undefined) => Promise<Keyring>;
}
