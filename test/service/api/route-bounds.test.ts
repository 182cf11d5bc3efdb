// Every route of every protocol has a row in the table of bounds; docs/route-bounds.md is written from it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { expect, test } from 'vitest';
import { KINDS, ROUTE_BOUNDS } from '../security/route-bounds.ts';

const description = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../docs/openapi.json', import.meta.url)), 'utf8'),
) as { paths: Record<string, Record<string, { requestBody?: unknown }>> };
const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { requestBody }]) => ({
    route: `${method.toUpperCase()} ${path}`,
    hasBody: requestBody !== undefined,
  })),
);

test('every route has a row, and every row a route', () => {
  expect(Object.keys(ROUTE_BOUNDS).sort()).toEqual(routes.map(({ route }) => route).sort());
});

test('a route that takes a body says where it is decoded, and no other does', () => {
  const wrong = routes.filter(
    ({ route, hasBody }) => hasBody && KINDS[ROUTE_BOUNDS[route] ?? 'none'].decoded === 'no body',
  );
  expect(wrong).toEqual([]);
});

test('docs/route-bounds.md is this table (npx vitest run test/service/api/route-bounds.test.ts -u)', async () => {
  const rows = Object.entries(ROUTE_BOUNDS).map(([route, kind]) => {
    const { decoded, budget, costsAtMost } = KINDS[kind];
    return `| \`${route}\` | ${decoded} | ${budget} | ${costsAtMost} |`;
  });
  const text = [
    '# What a request may cost',
    '',
    'Written by `test/service/api/route-bounds.test.ts`, which fails for a route without a row.',
    '',
    '| route | where its body is decoded | budget | costs at most |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
  await expect(await format(text, { parser: 'markdown', proseWrap: 'preserve' })).toMatchFileSnapshot(
    '../../../docs/route-bounds.md',
  );
});
