// `whetstone backup` and `whetstone restore`: report what was copied, and what could not be. Both exit with 1 if data is lost; a backup
// then still contains everything else.
import { counted } from '#base/counted';
import type { Command } from 'commander';
import { unfinishedBackup } from '#maintenance/unfinished-backup';
import type { OnDone } from '#maintenance/reports';
import { asCalled } from './as-called.ts';
import { showBytes } from './download-progress.ts';
import { writingTo } from './full-disk.ts';
import { interruptible } from './interrupt.ts';
import { describeFinding, findingForMachines, describeLooked, type Maintained } from './maintenance.ts';
import { show, withJson, type JsonFlag } from './output.ts';

type RestoreFlags = JsonFlag & { readonly data?: string; readonly acceptDamage?: boolean };

const NOT_RESTORED =
  'Interrupted before everything was restored: no server starts on the partial copy. Run the same command to begin again.';
const UNSETTLED = 'Data was deleted while it was copied, so some rows name blobs that are gone. Make another backup.';
const IN_ORIGINAL =
  'the original store has the same problems. Keep an older backup, and run `whetstone doctor` for details.';

export function addBackup(program: Command, { dataOption, load }: Maintained): void {
  withJson(program.command('backup <directory>'))
    .description(
      'copy all data into a new directory, which is itself a valid data directory; the server may keep running',
    )
    .addOption(dataOption())
    .action(async (directory: string, { data, ...flags }: JsonFlag & { data?: string }) => {
      const { onDone: showDone, end } = showBytes();
      let began = false; // before that, an unfinished copy belongs to another process
      const onDone: OnDone = (...done) => {
        began = true;
        showDone(...done);
      };
      const interruption = {
        line: () => 'Interrupted: the unfinished backup was deleted. The original data is unchanged.',
        remove: () => (began ? [unfinishedBackup(directory)] : []),
      };
      const maintenance = await load();
      const { findings, looked, settled } = await interruptible(interruption, () =>
        writingTo(directory, () => maintenance.backup({ data, directory, onDone })),
      ).finally(end);
      show(flags, { directory, settled, copied: looked, findings: findings.map(findingForMachines) }, () => [
        ...findings.map((finding) => describeFinding(finding)),
        `Copied ${describeLooked(looked)} to ${directory}.`,
        ...(settled ? [] : [UNSETTLED]),
        ...(findings.length === 0 ? [] : [`${counted(findings.length, 'finding')}${asCalled(`: ${IN_ORIGINAL}`)}`]),
      ]);
      if (findings.length > 0) process.exitCode = 1;
    });

  withJson(program.command('restore <directory>'))
    .description('copy a backup into an empty data directory, or an empty Postgres and blob store')
    .addOption(dataOption())
    .option('--accept-damage', 'restore a damaged backup anyway: what is intact is restored, the rest is lost')
    .action(async (directory: string, { data, acceptDamage = false, ...flags }: RestoreFlags) => {
      const { onDone, end } = showBytes();
      const request = { data, directory, acceptDamage, onDone };
      const maintenance = await load();
      const { outcome, findings, looked } = await interruptible({ line: () => NOT_RESTORED }, () =>
        writingTo(data ?? 'The data directory', () => maintenance.restore(request)),
      ).finally(end);
      const isRestored = outcome === 'restored';
      show(flags, { outcome, restored: isRestored ? looked : null, findings: findings.map(findingForMachines) }, () => [
        ...findings.map((finding) => describeFinding(finding)),
        isRestored
          ? `Restored ${describeLooked(looked)}.`
          : 'Nothing was restored. Use another backup, or pass --accept-damage to restore what is intact.',
      ]);
      if (!isRestored) process.exitCode = 1;
    });
}
