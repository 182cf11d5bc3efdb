// `whetstone backup` and `whetstone restore`: what was copied, and what could not be, for people. Both end with 1 where
// something is lost; a backup then still has everything else.
import type { Command } from 'commander';
import { describeFinding, describeLooked, showProgress, type Maintained } from './maintenance.ts';
import { say } from './remote.ts';

export function addBackup(program: Command, { dataOption, load }: Maintained): void {
  program
    .command('backup <directory>')
    .description('copy everything into a new directory, which is a data directory itself; the server may be running')
    .option(...dataOption)
    .action(async (directory: string, { data }: { data?: string }) => {
      const { onDone, end } = showProgress();
      const { findings, looked, settled } = await (await load()).backup({ data, directory, onDone }).finally(end);
      for (const finding of findings) say(describeFinding(finding));
      say(`Copied ${describeLooked(looked)} to ${directory}.`);
      if (!settled) say('Data was deleted faster than it was copied: some rows name blobs that are gone. Make another backup.'); // prettier-ignore
      if (findings.length === 0) return;
      say(
        `${findings.length} findings: the original has them too. Keep an older backup; \`whetstone doctor\` tells more.`,
      );
      process.exitCode = 1;
    });

  program
    .command('restore <directory>')
    .description('copy a backup into an empty data directory, or an empty Postgres and blob store')
    .option(...dataOption)
    .option('--accept-damage', 'restore a backup that has lost something; the rest of it is sound')
    .action(async (directory: string, { data, acceptDamage = false }: { data?: string; acceptDamage?: boolean }) => {
      const { onDone, end } = showProgress();
      const request = { data, directory, acceptDamage, onDone };
      const { outcome, findings, looked } = await (await load()).restore(request).finally(end);
      for (const finding of findings) say(describeFinding(finding));
      if (outcome === 'restored') say(`Restored ${describeLooked(looked)}.`);
      else {
        say('Nothing was restored. Use another backup, or pass --accept-damage.');
        process.exitCode = 1;
      }
    });
}
