// Every request field of the clients' packages is honoured, harmless or refused, and docs/fields.md says which. To rewrite its table:
// npx vitest run test/service/clients/field-decisions.test.ts -u
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { asTable } from '../../support/guide-table.ts';
import { fieldRows, undecided, type PackageFields } from '../../support/clients/field-decisions.ts';
import newest from './request-fields.json' with { type: 'json' };

const packages: PackageFields = newest;
const GUIDE = fileURLToPath(new URL('../../../docs/fields.md', import.meta.url));

test('every field of the newest packages has a decision', () => {
  expect(undecided(packages)).toEqual([]);
});

test('the document lists every field that is not read, with the reason', async () => {
  const text = await readFile(GUIDE, 'utf8');
  const table = /^\| endpoint [^]*?\n(?=\n)/m.exec(text);
  const versions = /openai \S+, anthropic \S+ and vLLM \S+(?=\. )/.exec(text);
  expect(table && versions, 'the table or its versions are gone from the document').not.toBeNull();
  const { openai, anthropic, vllm } = newest;
  const rows = [['endpoint', 'field', 'here', 'why'], ...fieldRows(packages)];
  const current = text
    .replace(table![0], asTable(4, rows))
    .replace(versions![0], `openai ${openai.version}, anthropic ${anthropic.version} and vLLM ${vllm.version}`);
  await expect(current).toMatchFileSnapshot(GUIDE);
});
