// What `whetstone doctor`, `backup` and `restore` share: which store they use, and how they describe findings.
import type { Option } from 'commander';
import type { Looked } from '#maintenance/doctor';
import type { Finding } from '#maintenance/finding';
import type { Maintenance } from '#maintenance/reports';
import { counted } from '#base/counted';
import { asCalled } from './as-called.ts';
import { bytesText } from './progress.ts';

/** Provided by program.ts. */
export interface Maintained {
  /** The option that names the directory. */
  readonly dataOption: () => Option;
  readonly load: () => Promise<Maintenance>;
}

export function describeFinding({ kind, where, problem, remedy }: Finding, repaired = false): string {
  return `${kind}  ${where}: ${asCalled(problem)}. ${repaired ? 'Repaired' : 'To do'}: ${asCalled(remedy)}.`;
}

export const findingForMachines = ({ kind, where, problem, remedy }: Finding) => ({ kind, where, problem, remedy });

export const describeLooked = (looked: Looked): string =>
  [
    counted(looked.models, 'model'),
    counted(looked.checkpoints, 'checkpoint'),
    `${counted(looked.jobs, 'job')} with ${counted(looked.events, 'event')}`,
    counted(looked.artifactFiles, 'artifact file'),
    `${counted(looked.blobs, 'blob')} (${bytesText(looked.sizeBytes)})`,
  ].join(', ');
