// Asks the registry for known vulnerabilities in the packages that users install, and fails if there are any. If the registry offers no
// audits, the script says so and succeeds: mirrors often do not.
import { spawnSync } from 'node:child_process';

interface Audit {
  readonly metadata?: { readonly vulnerabilities: { readonly total: number } };
  readonly message?: string;
}

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
});
const audit = JSON.parse(stdout || '{}') as Audit;
const found = audit.metadata?.vulnerabilities.total;
if (found === undefined) console.log(`No audit: the registry does not offer audits (${audit.message ?? 'no reason'}).`);
else if (found === 0) console.log('No known vulnerabilities in production dependencies.');
else {
  console.error(`${found} known vulnerabilities in production dependencies: npm audit --omit=dev`);
  process.exitCode = 1;
}
