// `whetstone doctor`: a line per finding and a summary, or JSON. Ends with 1 while something is left that is not right.
import type { Command } from 'commander';
import { describeFinding, describeLooked, showProgress, type DoctorReport, type Maintained } from './maintenance.ts';
import { say } from './remote.ts';

interface DoctorFlags {
  readonly data?: string;
  readonly repair?: boolean;
  readonly json?: boolean;
}

export function addDoctor(program: Command, { dataOption, load }: Maintained): void {
  program
    .command('doctor')
    .description('look whether everything that was stored is there and undamaged; with its server stopped')
    .option(...dataOption)
    .option('--repair', 'delete blobs that nothing refers to, and put accounts right; nothing else is touched')
    .option('--json', 'print the report as JSON')
    .action(async ({ data, repair = false, json = false }: DoctorFlags) => {
      const { onDone, end } = showProgress();
      const report = await (await load()).doctor({ data, repair, onDone }).finally(end);
      if (json) say(JSON.stringify(forMachines(report), null, 1));
      else for (const line of forPeople(report, repair)) say(line);
      if (!isHealthy(report)) process.exitCode = 1;
    });
}

const isHealthy = ({ findings }: DoctorReport): boolean => findings.every(({ repaired }) => repaired);

const forMachines = (report: DoctorReport) => ({
  healthy: isHealthy(report),
  looked_at: report.looked,
  findings: report.findings.map(({ kind, where, problem, remedy, repair, repaired }) => ({
    kind,
    where,
    problem,
    remedy,
    repairable: repair !== null,
    repaired,
  })),
});

function forPeople({ findings, looked }: DoctorReport, repair: boolean): string[] {
  const left = findings.filter(({ repaired }) => !repaired);
  const repairable = left.filter((finding) => finding.repair !== null).length;
  const repaired = findings.length - left.length;
  const parts = [
    findings.length === 0 ? 'Everything is there and undamaged.' : `${findings.length} findings.`,
    ...(repaired > 0 ? [`${repaired} repaired.`] : []),
    ...(repairable > 0 && !repair ? [`${repairable} can be repaired with --repair; nothing that counts is lost by it.`] : []), // prettier-ignore
  ];
  return [
    ...findings.map((finding) => describeFinding(finding, finding.repaired)),
    `Looked at ${looked ? describeLooked(looked) : 'the database only'}.`,
    parts.join(' '),
  ];
}
