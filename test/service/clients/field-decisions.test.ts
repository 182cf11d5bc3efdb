// Every request field of the clients' packages is honoured, harmless or refused, and docs/fields.md says which. To rewrite its table:
// npx vitest run test/service/clients/field-decisions.test.ts -u
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { asTable } from '../../support/guide-table.ts';
import {
  fieldRows,
  onlyNamed,
  PLACES,
  refusedKinds,
  undecided,
  type PackageFields,
} from '../../support/clients/field-decisions.ts';
import { BASE, send, shareTestServer } from '../../support/api/test-server.ts';
import newest from './request-fields.json' with { type: 'json' };

const packages: PackageFields = newest;
const GUIDE = fileURLToPath(new URL('../../../docs/fields.md', import.meta.url));

test('every field of the newest packages has a decision', () => {
  expect(undecided(packages)).toEqual([]);
});

const server = await shareTestServer();

test.each(refusedKinds(packages))('%s: objects of type %s are refused by their type, or named', async (place, kind) => {
  const { path, around } = PLACES[place]!;
  const body = { model: BASE, ...around(kind === '' ? {} : { type: kind }) };
  const limit = path === '/v1/responses' ? { max_output_tokens: 1 } : { max_tokens: 1 };
  const { statusCode, body: answer } = await send(server, { url: path, body: { ...body, ...limit } });
  if (statusCode === 200) expect(answer).toContain(`${kind} was not offered to the model`);
  else expect(answer).toMatch(new RegExp(`(such as|type) \\W*${kind}|${kind} tools|thinking.type: Input`, 'i'));
});

/** They say what else an answer has, or how it is delivered. */
const ADDING = [
  ...['background', 'include', 'include_reasoning', 'length_penalty', 'logprobs', 'metadata', 'return_token_ids'],
  ...['return_tokens_as_token_ids', 'store', 'stream_options', 'top_logprobs'],
];

test('what another endpoint reads is refused if it changes the answer', () => {
  expect(onlyNamed(packages)).toEqual(ADDING);
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
