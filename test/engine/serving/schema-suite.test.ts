// A part of the JSON-Schema-Test-Suite: no invalid instance is accepted, and everything stricter than the specification is listed
// with its reason. All of it: `npm run suite:schemas`.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import exceptions from '../../../scripts/schema-suite-exceptions.json' with { type: 'json' };
import { readSuite, runSuite } from '../../../scripts/schema-suite-run.ts';

const SUITE = fileURLToPath(new URL('./schema-suite', import.meta.url));

test('invalid instances of the suite are never accepted, valid ones are, and exceptions have reasons', () => {
  const { instances, differences } = runSuite(readSuite(SUITE));
  const meant = exceptions.flatMap(({ cases }) => cases);
  expect(instances).toBeGreaterThan(500);
  expect(differences.filter(({ outcome }) => outcome === 'wrong')).toEqual([]);
  expect(differences.filter(({ name }) => !meant.some((prefix) => name.startsWith(prefix)))).toEqual([]);
});
