// Identifies the processor of a result, as a name and as a file name. Hypervisors hide the model but expose the family, by which kernels are
// chosen: "AMD EPYC" of family 26 is a Zen 5, of family 25 a Zen 3 or 4.
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

export function processor(): { readonly name: string; readonly fileName: string } {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const family = linuxField('cpu family');
  const name = family === null ? model : `${model}, family ${family}, model ${linuxField('model')}`;
  return {
    name,
    fileName: name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, ''),
  };
}

/** From /proc/cpuinfo on x86; null elsewhere. */
function linuxField(field: string): string | null {
  if (process.platform !== 'linux') return null;
  return new RegExp(`^${field}\\s*: (.*)$`, 'm').exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? null;
}
