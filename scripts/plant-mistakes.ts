// Plants each mistake of test/service/simulation/mistakes.ts and runs the simulation until it finds it. Prints a table for docs/testing.md: what was
// planted, what found it, after how many kills. Fails if a mistake is not found. With arguments: only mistakes whose name contains one.
import { spawnSync } from 'node:child_process';
import { MISTAKES } from '../test/service/simulation/mistakes.ts';

/** More than any of them has needed. */
const KILLS = Number(process.env['WHETSTONE_SIMULATION_KILLS'] ?? 6_000);

const wanted = process.argv.slice(2);
const chosen = MISTAKES.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
let missed = 0;
for (const { name, test = 'simulation.test.ts' } of chosen) {
  const { stdout, stderr } = spawnSync(
    'npx',
    ['vitest', 'run', '--config', 'test/service/simulation/planted.config.ts', `test/service/simulation/${test}`],
    {
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', WHETSTONE_MISTAKE: name, WHETSTONE_SIMULATION_KILLS: String(KILLS) },
    },
  );
  const found = /Error: (.*)(?:\nafter (\d+) kills)?/.exec(`${stdout}${stderr}`);
  const what = found?.[1]!
    .replace(/^seed \d+: /, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '/');
  if (!found) missed++;
  console.log(`| ${name} | ${found ? shortened(what!) : 'NOT FOUND'} | ${found?.[2] ?? (found ? 'none' : '')} |`);
}
process.exitCode = missed > 0 ? 1 : 0;

function shortened(text: string): string {
  const plain = text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    .replace(/ differ from an undisturbed run: .*/, ' differs from an undisturbed run');
  return plain.length > 110 ? `${plain.slice(0, 110)}…` : plain;
}
