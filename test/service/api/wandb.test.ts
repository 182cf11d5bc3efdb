// The W&B protocol at the level of HTTP: permissions, refusals and their messages, and the bounds of a document.
// test/python/clients/wandb.test.ts tests the library itself.
import { expect, test } from 'vitest';
import { SCOPES, type Scope } from '#domain/api-key';
import { BOOTSTRAP_KEY, containing, openTestServer, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` });
const newKey = async (entity: string, scopes: readonly Scope[] = SCOPES) =>
  (await server.apiKeys.create({ entity, name: 'test', scopes })).secret;

async function ask(query: string, variables: object = {}, headers: Record<string, string> = basic(BOOTSTRAP_KEY)) {
  return send(server, { url: '/graphql', headers, body: { query, variables, operationName: '' } });
}

const UPSERT = `mutation UpsertBucket($name: String, $project: String, $config: JSONString) {
  upsertBucket(input: {name: $name, modelName: $project, entityName: null, config: $config}) {
    bucket { id name displayName project { name entity { name } } } inserted } }`;
const RUN = `query Run($entity: String!, $project: String!, $name: String!) {
  project(name: $project, entityName: $entity) { run(name: $name) { ...RunFragment } } }
  fragment RunFragment on Run { name state config summaryMetrics historyLineCount historyTail historyKeys }`;

const stream = (run: string, body: object, headers: Record<string, string> = basic(BOOTSTRAP_KEY)) =>
  send(server, { url: `/files/default/p/${run}/file_stream`, headers, body });

test('a key is accepted as a password, and a wrong one is refused in GraphQL’s format too', async () => {
  expect((await ask('query Viewer { viewer { id entity } }')).json()).toEqual({
    data: { viewer: { id: 'default', entity: 'default' } },
  });
  const refused = await ask('{ viewer { id } }', {}, basic('wk-wrong'));
  expect(refused.statusCode).toBe(401);
  expect(refused.json()).toMatchObject({
    errors: [{ message: containing('API key') }],
    error: { code: 'invalid_api_key' },
  });
  const elsewhere = await send(server, { url: '/v1/models', headers: basic(BOOTSTRAP_KEY) });
  expect(elsewhere.statusCode).toBe(401);
});

test('a run is made once, keeps its points whatever is repeated, and is read back through both APIs', async () => {
  const made = await ask(UPSERT, { name: 'r1', project: 'p', config: '{"lr":{"value":0.1},"_wandb":{"value":{}}}' });
  expect(made.json()).toMatchObject({
    data: { upsertBucket: { inserted: true, bucket: { displayName: 'r1', project: { entity: { name: 'default' } } } } },
  });
  expect((await ask(UPSERT, { name: 'r1', project: 'p' })).json()).toMatchObject({
    data: { upsertBucket: { inserted: false } },
  });
  const lines = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, at) => `{"_step":${from + at},"loss":${from + at === 2 ? 'NaN' : '1.5e+00'}}`,
    );
  const first = { files: { 'wandb-history.jsonl': { offset: 0, content: lines(0, 3) } } };
  for (let i = 0; i < 2; i++) expect((await stream('r1', first)).statusCode).toBe(200);
  const last = {
    files: {
      'wandb-history.jsonl': { offset: 3, content: lines(3, 5) },
      'wandb-summary.json': { offset: 0, content: ['{"loss":1.5,"best":Infinity}'] },
      'output.log': { offset: 0, content: ['secret console text'] },
    },
    complete: true,
    exitcode: 0,
  };
  expect((await stream('r1', last)).json()).toEqual({});
  expect((await ask(RUN, { entity: 'default', project: 'p', name: 'r1' })).json()).toEqual({
    data: {
      project: {
        run: {
          name: 'r1',
          state: 'finished',
          config: '{"lr":{"value":0.1},"_wandb":{"value":{}}}',
          summaryMetrics: '{"loss":1.5,"best":"Infinity"}',
          historyLineCount: 5,
          historyTail: JSON.stringify(lines(4, 5)),
          historyKeys: { lastStep: 4, keys: {}, sets: [] },
        },
      },
    },
  });
  expect((await send(server, { url: '/v1/runs/~/p/r1' })).json()).toMatchObject({
    config: { lr: 0.1 },
    summary: { loss: 1.5, best: 'Infinity' },
    state: 'finished',
  });
  const page = await send(server, { url: '/v1/runs/default/p/r1/history?after=0&limit=2' });
  expect(page.json()).toMatchObject({
    has_more: true,
    data: [{ line: 1 }, { line: 2, values: { _step: 2, loss: 'NaN' } }],
  });
  const all = await send(server, { url: '/v1/runs/default/p/r1/history?format=jsonl' });
  expect(all.body.trim().split('\n')).toHaveLength(5);
  const range = `{ project(name: "p") { run(name: "r1") { history(minStep: 2, maxStep: 4, samples: 10)
    sampledHistory(specs: ["{\\"keys\\":[\\"loss\\"],\\"samples\\":2}"]) } } }`;
  expect((await ask(range)).json()).toMatchObject({
    data: {
      project: {
        run: {
          history: ['{"_step":2,"loss":"NaN"}', containing('"_step":3')],
          sampledHistory: [[{ loss: 1.5 }, { loss: 1.5 }]],
        },
      },
    },
  });
  const curves = await send(server, { url: '/v1/runs/~/p/r1/curves' });
  expect(curves.json()).toMatchObject({ history_lines: 5, left_out: 0, curves: { loss: { steps: [0, 1, 3, 4] } } });
  const listed = await send(server, { url: '/v1/runs?entity=default&project=p&search=R1&state=finished' });
  expect(listed.json()).toMatchObject({ data: [{ run: 'r1' }], counts: { running: 0, finished: 1, failed: 0 } });
  expect((await send(server, { url: '/v1/runs?entity=others' })).statusCode).toBe(404);
  const projects = await send(server, { url: '/v1/run-projects' });
  expect(projects.json()).toMatchObject({ data: [{ id: 'p', runs: 1, running: 0 }], has_more: false });
  expect((await send(server, { method: 'DELETE', url: '/v1/runs/~/p/r1' })).json()).toEqual({ deleted: true });
  expect((await send(server, { url: '/v1/runs/~/p/r1' })).statusCode).toBe(404);
});

const logged = (answer: Awaited<ReturnType<typeof ask>>) =>
  answer.json<{ data: { project: { run: { history: string[]; sampledHistory: unknown[][] } } } }>().data.project.run;

test('a history is sampled from its first to its last line, and pages of a scan share no line', async () => {
  await ask(UPSERT, { name: 'steps', project: 'p' });
  const content = Array.from({ length: 50 }, (_, at) => `{"_step":${10 * at},"train":{"loss":${at}}}`);
  await stream('steps', { files: { 'wandb-history.jsonl': { offset: 0, content } } });
  const read = async (field: string) => logged(await ask(`{ project(name: "p") { run(name: "steps") { ${field} } } }`));
  const steps = async (field: string) =>
    (await read(field)).history.map((line) => (JSON.parse(line) as { _step: number })._step);
  expect(await steps('history(samples: 5)')).toEqual([0, 120, 250, 370, 490]);
  expect(await steps('history')).toHaveLength(50);
  expect(await steps('history(minStep: 0, maxStep: 20, samples: 20)')).toEqual([0, 10]);
  expect(await steps('history(minStep: 20, maxStep: 40, samples: 20)')).toEqual([20, 30]);
  const spec = JSON.stringify({ keys: ['_step', 'train.loss'], minStep: 20, maxStep: 480, samples: 3 });
  const { sampledHistory } = await read(`sampledHistory(specs: [${JSON.stringify(spec)}])`);
  expect(sampledHistory).toEqual([
    [
      { _step: 20, 'train.loss': 2 },
      { _step: 250, 'train.loss': 25 },
      { _step: 480, 'train.loss': 48 },
    ],
  ]);
});

test('one key of a history of long lines is read, because only what is shown counts', async () => {
  await ask(UPSERT, { name: 'wide', project: 'p' });
  const line = JSON.stringify({ x: 1, text: 'x'.repeat(60_000) });
  for (let offset = 0; offset < 300; offset++)
    await stream('wide', { files: { 'wandb-history.jsonl': { offset, content: [line] } } });
  const sampled = `{ project(name: "p") { run(name: "wide") { sampledHistory(specs: ["{\\"keys\\":[\\"x\\"]}"]) } } }`;
  expect(logged(await ask(sampled)).sampledHistory[0]).toHaveLength(300);
});

test('the error for an invalid history line has its number, and nothing changes', async () => {
  await ask(UPSERT, { name: 'r2', project: 'p' });
  const bad = { files: { 'wandb-history.jsonl': { offset: 7, content: ['{"a":1}', '[1]'] } } };
  const refused = await stream('r2', bad);
  expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([400, containing('Line 8')]);
  expect((await send(server, { url: '/v1/runs/~/p/r2' })).json()).toMatchObject({ history_lines: 0 });
});

test('another entity learns nothing of a run, and a read-only key changes none', async () => {
  await ask(UPSERT, { name: 'r3', project: 'p' });
  const others = basic(await newKey('others'));
  const told = await ask(RUN, { entity: 'default', project: 'p', name: 'r3' }, others);
  expect(told.json()).toEqual({ data: { project: null } });
  expect((await stream('r3', {}, others)).statusCode).toBe(404);
  const foreign = UPSERT.replace('entityName: null', 'entityName: "default"');
  expect((await ask(foreign, { name: 'r3', project: 'p' }, others)).json()).toMatchObject({
    data: null,
    errors: [{ message: containing('No run default/p/r3') }],
  });
  const reader = basic(await newKey('default', ['read']));
  expect((await ask(UPSERT, { name: 'r3', project: 'p' }, reader)).json()).toMatchObject({
    errors: [{ message: containing('scope train') }],
  });
});

const BY_ID = `mutation UpsertBucket($id: String!, $notes: String, $tags: [String!], $displayName: String, $config: JSONString) {
  upsertBucket(input: {id: $id, notes: $notes, tags: $tags, displayName: $displayName, config: $config}) { bucket { id name } } }`;
const DELETE_RUN = 'mutation DeleteRun($id: ID!) { deleteRun(input: {id: $id}) { clientMutationId } }';

test('a reader changes and deletes a run by its id, and neither begins it again nor makes one', async () => {
  const made = await ask(UPSERT, { name: 'r5', project: 'p' });
  const { id } = made.json<{ data: { upsertBucket: { bucket: { id: string } } } }>().data.upsertBucket.bucket;
  await stream('r5', { complete: true, exitcode: 0 });
  const change = { id, tags: ['b'], displayName: 'renamed', config: '{"lr":{"value":2}}' };
  expect((await ask(BY_ID, change)).json()).toMatchObject({ data: { upsertBucket: { bucket: { id, name: 'r5' } } } });
  const read = (await send(server, { url: '/v1/runs/~/p/r5' })).json<object>();
  expect(read).toMatchObject({ name: 'renamed', tags: ['b'], config: { lr: 2 }, state: 'finished' });
  const others = basic(await newKey('others'));
  for (const refused of [await ask(BY_ID, change, others), await ask(DELETE_RUN, { id }, others)])
    expect(refused.json()).toMatchObject({ errors: [{ message: containing('No run others/p/r5') }] });
  expect((await ask(DELETE_RUN, { id })).json()).toMatchObject({ data: { deleteRun: {} } });
  for (const gone of [await ask(BY_ID, change), await ask(DELETE_RUN, { id })])
    expect(gone.json()).toMatchObject({ errors: [{ message: containing('No run default/p/r5') }] });
  expect((await ask(DELETE_RUN, { id: 'x' })).json()).toMatchObject({ errors: [{ message: containing('the id x') }] });
});

test('runs are counted, and listed in the order that was asked for or not at all', async () => {
  for (const name of ['a', 'b', 'c']) await ask(UPSERT, { name, project: 'ordered' });
  const list = async (order: string) =>
    (
      await ask(
        `{ project(name: "ordered") { runCount runs(order: "${order}") { totalCount edges { node { name } } } } }`,
      )
    ).json<{
      data: { project: { runCount: number; runs: { totalCount: number; edges: { node: { name: string } }[] } } };
    }>().data?.project;
  for (const [order, names] of [
    ['+created_at', 'abc'],
    ['created_at', 'abc'],
    ['-created_at', 'cba'],
  ] as const) {
    const { runCount, runs } = await list(order);
    expect([runCount, runs.totalCount, runs.edges.map(({ node }) => node.name).join('')]).toEqual([3, 3, names]);
  }
  const other = await ask('{ project(name: "ordered") { runs(order: "-summary_metrics.loss") { totalCount } } }');
  expect(other.json()).toMatchObject({ errors: [{ message: containing('-summary_metrics.loss, only by') }] });
});

test('runs of one state are counted and listed, and other filters are refused', async () => {
  for (const name of ['a', 'b', 'c']) await ask(UPSERT, { name, project: 'filtered' });
  await send(server, {
    url: '/files/default/filtered/b/file_stream',
    headers: basic(BOOTSTRAP_KEY),
    body: { complete: true, exitcode: 0 },
  });
  const query = `query($filters: JSONString) { project(name: "filtered") {
    runCount(filters: $filters) runs(filters: $filters) { totalCount edges { node { name } } } } }`;
  const list = (filters: unknown) => ask(query, { filters: JSON.stringify(filters) });
  const shown = (count: number, names: readonly string[]) => ({
    data: {
      project: { runCount: count, runs: { totalCount: count, edges: names.map((name) => ({ node: { name } })) } },
    },
  });
  expect((await list({})).json()).toEqual(shown(3, ['c', 'b', 'a']));
  expect((await list({ state: 'finished' })).json()).toEqual(shown(1, ['b']));
  for (const [filters, word] of [
    [{ state: 'crashed' }, 'running, finished, failed'],
    [{ 'config.lr': 0.1 }, 'only'],
    [{ state: 'running', tags: 'a' }, 'only'],
    [[], 'only'],
  ] as const)
    expect((await list(filters)).json()).toMatchObject({ errors: [{ message: containing(word) }] });
});

test.each([
  ['of several processes', {}, { 'x-wandb-use-async-filestream': 'true' }, 'mode="shared"'],
  ['that is a fork', { config: '{"_wandb":{"value":{"branch_point":{"run_id":"r","step":2}}}}' }, {}, 'fork_from'],
  ['that waits to begin', { state: 'pending' }, {}, 'cannot begin as pending'],
])('a run %s is refused before it is made', async (_, about, headers, word) => {
  const query = 'mutation($input: UpsertBucketInput!) { upsertBucket(input: $input) { inserted } }';
  const input = { name: 'refused', modelName: 'p', ...about };
  const answer = await ask(query, { input }, { ...basic(BOOTSTRAP_KEY), ...headers });
  expect(answer.json()).toMatchObject({ data: null, errors: [{ message: containing(word) }] });
  expect((await send(server, { url: '/v1/runs/~/p/refused' })).statusCode).toBe(404);
});

test('the error for an unsupported operation names it, and the field', async () => {
  const { statusCode, body } = await ask('query GetSweep($id: ID!) { sweep(id: $id) { id } }', { id: 'x' });
  expect(statusCode).toBe(200);
  expect(body).toMatch(/GetSweep is not supported by Whetstone.*sweep.*docs\/wandb\.md/);
});

test('the error for a served operation that lacks an argument names it, and does not call it unserved', async () => {
  const { body } = await ask('query GetArtifact { artifact { id } }');
  expect(body).toMatch(/GetArtifact is not valid: .*\\"id\\"/);
  expect(body).not.toContain('not served');
});

test('a variable that is not in the schema is refused by name, not answered as a failure to retry', async () => {
  const query = 'mutation($input: UpsertBucketInput!) { upsertBucket(input: $input) { inserted } }';
  const { statusCode, body } = await ask(query, { input: { name: 'r', modelName: 'p', unheardOf: 1 } });
  expect([statusCode, body]).toEqual([200, containing('unheardOf')]);
});

test.each([
  [
    'deep',
    `{ viewer { ${'defaultEntity { organization { orgEntity { '.repeat(8)} id ${'} } }'.repeat(8)} } }`,
    'deeper',
  ],
  ['many aliases', `{ ${Array.from({ length: 11 }, (_, i) => `a${i}: viewer { id }`).join(' ')} }`, 'objects at once'],
  ['many fields', `{ viewer { ${'id '.repeat(1_001)} } }`, 'fields'],
  ['long', `{ viewer { ${'id '.repeat(5_000)} } }`, '5000 tokens'],
  [
    'fragments that double',
    `{ viewer { ...a0 } } ${Array.from({ length: 15 }, (_, i) => `fragment a${i} on User { ...a${i + 1} ...a${i + 1} }`).join(' ')} fragment a15 on User { id }`,
    'fields',
  ],
  ['deep values', `{ project(name: ${'['.repeat(2_400)}${']'.repeat(2_400)}) { id } }`, 'brackets'],
  ['deep values, never closed', `{ project(name: ${'['.repeat(4_900)}`, 'brackets'],
  ['a fragment in itself', '{ viewer { ...a } } fragment a on User { id ...a }', 'deeper'],
])('a document that is a bomb is refused: %s', async (_, query, word) => {
  const { statusCode, body } = await ask(query);
  expect([statusCode, body]).toEqual([200, containing(word)]);
});

test('a link permits one action to its holder, until its key is revoked or it expires', async () => {
  const { secret, key } = await server.apiKeys.create({ entity: 'default', name: 'links', scopes: SCOPES });
  await ask(UPSERT, { name: 'r4', project: 'p' }, basic(secret));
  const files = `mutation { createRunFiles(input: {entityName: "default", projectName: "p", runName: "r4", files: ["output.log"]}) { files { name uploadUrl } } }`;
  const answer = await ask(files, {}, basic(secret));
  const { uploadUrl } = answer.json<{ data: { createRunFiles: { files: { uploadUrl: string }[] } } }>().data
    .createRunFiles.files[0]!;
  const { pathname, search } = new URL(uploadUrl);
  const put = (url: string) => send(server, { method: 'PUT', url, headers: { authorization: '' }, body: 'text' });
  expect((await put(`${pathname}${search}`)).statusCode).toBe(200);
  const changed = search.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  for (const wrong of [changed, '?link=x', `${search.split('.')[0]}.`]) {
    expect((await put(`${pathname}${wrong}`)).json()).toMatchObject({ error: { code: 'link_refused' } });
  }
  await server.apiKeys.revoke(key.id, null);
  expect((await put(`${pathname}${search}`)).statusCode).toBe(403);
  const media = files.replace('output.log', 'media/table/x.table.json');
  expect((await ask(media)).json()).toMatchObject({ errors: [{ message: containing('media/table/x.table.json') }] });
});

test('weave learns that traces are not stored, and any it sends are counted and dropped', async () => {
  const info = await send(server, { url: '/traces/server_info', headers: { authorization: '' } });
  expect(info.json()).toMatchObject({ min_required_weave_python_version: '999.0.0' });
  const batch = { url: '/traces/call/upsert_batch', headers: basic(BOOTSTRAP_KEY), body: { batch: [] } };
  const sent = await send(server, batch);
  expect([sent.statusCode, sent.json()]).toEqual([200, {}]);
  const { body } = await send(server, { url: '/metrics' });
  expect(body).toMatch(/^whetstone_weave_requests_dropped_total 1$/m);
  expect(body).toMatch(/^whetstone_weave_bytes_dropped_total 12$/m);
});

test('an operator may have traces refused instead', async () => {
  const refusing = await openTestServer({ limits: { weaveTraces: 'refuse' } });
  try {
    const batch = { url: '/traces/call/upsert_batch', headers: basic(BOOTSTRAP_KEY), body: { batch: [] } };
    const refused = await send(refusing, batch);
    expect([refused.statusCode, refused.json()]).toMatchObject([
      404,
      { error: { message: containing('--weave-traces') } },
    ]);
    expect((await send(refusing, { url: '/metrics' })).body).toMatch(/^whetstone_weave_requests_dropped_total 0$/m);
  } finally {
    await refusing.close();
  }
});

/** Every list is asked for in each object of the list before it. */
const nested = (levels: number): string =>
  levels === 0 ? 'id' : `artifactSequence { artifacts(first: 50) { edges { node { id ${nested(levels - 1)} } } } }`;

test('lists in lists end at the budget of the answer, and other requests are answered meanwhile', async () => {
  const headers = basic(BOOTSTRAP_KEY);
  for (let version = 0; version < 14; version++) {
    const url = '/v1/artifacts/~/nested/rows/a.txt';
    expect((await send(server, { method: 'PUT', url, body: `version ${version}` })).statusCode).toBe(201);
  }
  let turns = 0;
  const heart = setInterval(() => turns++, 5);
  const answer = await ask(`{ project(name: "nested") { artifact(name: "rows") { ${nested(4)} } } }`, {}, headers);
  clearInterval(heart);
  expect(answer.json()).toMatchObject({ data: null, errors: [{ message: containing('reads of the database') }] });
  expect(turns).toBeGreaterThan(3);
});

test('aliases of one long history share one budget of text', async () => {
  await ask(UPSERT, { name: 'long', project: 'p' });
  const content = Array.from({ length: 10 }, (_, step) => `{"_step":${step},"text":"${'x'.repeat(60_000)}"}`);
  for (const [offset, line] of content.entries())
    expect((await stream('long', { files: { 'wandb-history.jsonl': { offset, content: [line] } } })).statusCode).toBe(
      200,
    );
  const history = (many: number) =>
    `{ project(name: "p") { run(name: "long") { ${Array.from({ length: many }, (_, i) => `h${i}: history(minStep: 0, maxStep: 99)`).join(' ')} } } }`;
  expect((await ask(history(2))).json()).toMatchObject({
    data: { project: { run: { h0: expect.any(Array) as unknown } } },
  });
  expect((await ask(history(40))).json()).toMatchObject({ errors: [{ message: containing('longer than 16000000') }] });
});
