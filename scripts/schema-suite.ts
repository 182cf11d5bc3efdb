// `npm run suite:schemas -- DIRECTORY`: runs the JSON-Schema-Test-Suite (github.com/json-schema-org/JSON-Schema-Test-Suite, a fetched copy)
// through the constraint engine. Each valid instance must be accepted in its canonical form, each invalid one rejected;
// `schema-suite-exceptions.json` lists what is narrower than that, or refused, with the reason. Exits with 1 if a case differs from the
// list.
import { parseArgs } from 'node:util';
import exceptions from './schema-suite-exceptions.json' with { type: 'json' };
import { readSuite, runSuite } from './schema-suite-run.ts';

const [root] = parseArgs({ allowPositionals: true }).positionals;
if (root === undefined) throw new Error('Say where the suite is: npm run suite:schemas -- DIRECTORY');

const { cases, instances, accepted, differences } = runSuite(readSuite(root));
const meant = exceptions.flatMap(({ cases: prefixes }) => prefixes);
const unknown = differences.filter(
  ({ name, outcome }) => outcome === 'wrong' || !meant.some((prefix) => name.startsWith(prefix)),
);
const stale = meant.filter((prefix) => !differences.some(({ name }) => name.startsWith(prefix)));
for (const { name, outcome, detail } of unknown) process.stdout.write(`${outcome}: ${name}: ${detail}\n`);
for (const prefix of stale) process.stdout.write(`no longer differs: ${prefix}\n`);
for (const { reason, cases: prefixes } of exceptions) {
  const all = differences.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)));
  process.stdout.write(`${all.length} × ${reason}\n`);
}
const count = (outcome: string) => differences.filter((each) => each.outcome === outcome).length;
process.stdout.write(
  `${cases} schemas, ${instances} instances: ${accepted} as the suite has it, ${count('narrower')} valid and not accepted, ` +
    `${count('wrong')} invalid and accepted; ${count('refused')} schemas refused, ${unknown.length} of all this without a reason\n`,
);
if (unknown.length + stale.length > 0) process.exitCode = 1;
