// `whetstone doctor`, `backup` and `restore` for program.ts, which loads this only for these commands.
import { withNamedFaults } from '#storage/named-faults';
import type { Maintenance } from './reports.ts';
import { readStoreConfig } from '#config/server-config';
import { readExistingStore } from '#config/existing-store';
import { runBackup } from './run-backup.ts';
import { runDoctor } from './run-doctor.ts';
import { runRestore } from './run-restore.ts';

export const maintenance: Maintenance = withNamedFaults<Maintenance>({
  doctor: ({ data, repair, onDone }) => runDoctor(readExistingStore(data, process.env), repair, onDone),
  backup: ({ data, directory, onDone }) => runBackup(readExistingStore(data, process.env), directory, onDone),
  restore: ({ data, directory, acceptDamage, onDone }) =>
    runRestore(readStoreConfig(data, process.env), directory, acceptDamage, onDone),
});
