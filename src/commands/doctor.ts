// `whetstone doctor`: one line per finding and a summary, or JSON. With the options of `serve`, also the memory plan of such a server.
// Exits with 1 if unrepaired findings remain.
import { counted } from '#base/counted';
import type { Command } from 'commander';
import type { DoctorReport } from '#maintenance/reports';
import { describeFinding, describeLooked, type Maintained } from './maintenance.ts';
import { settingOption } from '#config/describe-settings';
import type { Flags } from '#config/setting';
import { SETTINGS } from '#config/settings';
import { gigabytes } from '#base/gigabytes';
import { UsageError } from '#domain/errors';
import { showBytes } from './download-progress.ts';
import { confirm, show, withJson, withYes, type JsonFlag, type YesFlag } from './output.ts';

interface DoctorFlags extends JsonFlag, YesFlag, Flags<typeof PLANNED> {
  readonly data?: string;
  readonly repair?: boolean;
}

/** The settings of `serve` that the memory plan depends on. */
const { model, precision, trainingPrecision, role, memory, kvCache, kvCacheDtype, maxModelLen, trainingMemory } =
  SETTINGS;
const PLANNED = {
  model,
  precision,
  trainingPrecision,
  role,
  memory,
  kvCache,
  kvCacheDtype,
  maxModelLen,
  trainingMemory,
};

/** The memory plan of a server with these settings. */
export interface MemoryReport {
  readonly plan: {
    readonly memoryBytes: number;
    readonly bytes: number;
    readonly parts: readonly { readonly part: string; readonly model: string | null; readonly bytes: number }[];
  };
  readonly shortage: string | null;
}

export type PlanMemory = (flags: Flags<typeof SETTINGS>) => Promise<MemoryReport>;

export function addDoctor(program: Command, { dataOption, load }: Maintained, planMemory: PlanMemory): void {
  const doctor = program.command('doctor');
  Object.values(PLANNED).forEach((each) => doctor.addOption(settingOption(each).helpGroup('Memory, as for serve:')));
  withYes(withJson(doctor))
    .description(
      'check that all stored data is present and undamaged (stop the server first); or, with --model, show how much memory serve would use',
    )
    .addOption(dataOption())
    .option(
      '--repair',
      'move blobs that nothing refers to into quarantine, delete leftovers of ended jobs, correct accounts, and make files private; nothing else is changed',
    )
    .action(async ({ data, repair = false, ...flags }: DoctorFlags) => {
      const planned = Object.entries(PLANNED).find(([key]) => key in flags)?.[1];
      if (planned) {
        refuseStoreFlags(planned.flag!, { '--data': data !== undefined, '--repair': repair });
        return showMemory(flags, await planMemory(flags));
      }
      if (repair) await confirm(flags, 'Repair the store? Leftovers of ended jobs are deleted.');
      const { onDone, end } = showBytes();
      const report = await (await load()).doctor({ data, repair, onDone }).finally(end);
      show(flags, forMachines(report), () => forPeople(report, repair));
      if (!isHealthy(report)) process.exitCode = 1;
    });
}

/** The memory plan reads no stored data. */
function refuseStoreFlags(planned: string, given: Readonly<Record<string, boolean>>): void {
  const flag = Object.keys(given).find((each) => given[each]);
  if (flag === undefined) return;
  throw new UsageError(
    `${flag} is about stored data, and ${planned.split(' ')[0]} about memory: call doctor for each.`,
  );
}

function showMemory(flags: JsonFlag, { plan, shortage }: MemoryReport): void {
  const { memoryBytes, bytes, parts } = plan;
  const machine = { fits: shortage === null, memory_bytes: memoryBytes, planned_bytes: bytes, parts, shortage };
  const lines = parts
    .filter((each) => each.bytes > 0)
    .map(
      (each) =>
        `${gigabytes(each.bytes, 2).padStart(9)}  ${each.part.replace('_', ' ')} of ${each.model ?? 'the server'}`,
    );
  const fits = `${gigabytes(bytes, 2).padStart(9)}  planned, of ${gigabytes(memoryBytes, 2)}: it fits.`;
  show(flags, machine, () => (shortage === null ? [...lines, fits] : [shortage]));
  if (shortage !== null) process.exitCode = 1;
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
    findings.length === 0 ? 'Everything is there and undamaged.' : `${counted(findings.length, 'finding')}.`,
    ...(repaired > 0 ? [`${repaired} repaired.`] : []),
    ...(repairable > 0 && !repair
      ? [`${repairable} can be repaired with --repair, without losing data that is in use.`]
      : []),
  ];
  return [
    ...findings.map((finding) => describeFinding(finding, finding.repaired)),
    `Checked ${looked ? describeLooked(looked) : 'the database only'}.`,
    parts.join(' '),
    ...(quarantine === null
      ? []
      : [
          `Blobs that no row refers to were moved to ${quarantine}. Delete it once you are sure that nothing needs them; to undo the repair, move them back to the other blobs.`,
        ]),
  ];
}
