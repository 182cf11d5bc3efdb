// `whetstone doctor`: a line per finding and a summary, or JSON. Ends with 1 while something is left that is not right.
import type { Command } from 'commander';
import type { DoctorReport } from '#maintenance/reports';
import { describeFinding, describeLooked, type Maintained } from './maintenance.ts';
import { confirm, show, withJson, withYes, type JsonFlag, type YesFlag } from './output.ts';
import { showProgress } from './progress.ts';

interface DoctorFlags extends JsonFlag, YesFlag {
  readonly data?: string;
  readonly repair?: boolean;
}

export function addDoctor(program: Command, { dataOption, load }: Maintained): void {
  withYes(withJson(program.command('doctor')))
    .description('check that everything stored is present and undamaged; stop the server first')
    .addOption(dataOption())
    .option(
      '--repair',
      'move blobs that nothing refers to into quarantine, delete what ended jobs have left, put accounts right, and close files to other users; nothing else is touched',
    )
    .action(async ({ data, repair = false, ...flags }: DoctorFlags) => {
      if (repair) await confirm(flags, 'Repair the store?');
      const { onDone, end } = showProgress();
      const report = await (await load()).doctor({ data, repair, onDone }).finally(end);
      show(flags, forMachines(report), () => forPeople(report, repair));
      if (!isHealthy(report)) process.exitCode = 1;
    });
}

const isHealthy = ({ findings }: DoctorReport): boolean => findings.every(({ repaired }) => repaired);

const forMachines = (report: DoctorReport) => ({
  healthy: isHealthy(report),
  looked_at: report.looked,
  quarantine: report.quarantine,
  findings: report.findings.map(({ kind, where, problem, remedy, repair, repaired }) => ({
    kind,
    where,
    problem,
    remedy,
    repairable: repair !== null,
    repaired,
  })),
});

function forPeople({ findings, looked, quarantine }: DoctorReport, repair: boolean): string[] {
  const left = findings.filter(({ repaired }) => !repaired);
  const repairable = left.filter((finding) => finding.repair !== null).length;
  const repaired = findings.length - left.length;
  const parts = [
    findings.length === 0 ? 'Everything is there and undamaged.' : `${findings.length} findings.`,
    ...(repaired > 0 ? [`${repaired} repaired.`] : []),
    ...(repairable > 0 && !repair
      ? [`${repairable} can be repaired with --repair; nothing that counts is lost by it.`]
      : []),
  ];
  return [
    ...findings.map((finding) => describeFinding(finding, finding.repaired)),
    `Looked at ${looked ? describeLooked(looked) : 'the database only'}.`,
    parts.join(' '),
    ...(quarantine === null
      ? []
      : [
          `What no row refers to is in ${quarantine} now. Delete it when nobody misses it; to put it back, move what is in it up to the blobs.`,
        ]),
  ];
}
