// The SQL storage over SQLite in memory, as tests use it: opened in a hundredth of a second, and gone with its last user.
import { silentLog } from '#base/log';
import { openSqliteStorage } from '#storage/sql/open-sqlite';
import type { Storage } from '#storage/storage';

export const openStorageInMemory = (): Promise<Storage> => openSqliteStorage({ path: ':memory:', log: silentLog });
