// Artifacts in the W&B protocol at the level of HTTP: announcing, uploading by links, committing, reading, refusals, and
// isolation of entities. test/python/clients/wandb.test.ts tests the library itself.
import { createHash, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { SCOPES, type Scope } from '#domain/api-key';
import { BOOTSTRAP_KEY, containing, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` });
const newKey = async (entity: string, scopes: readonly Scope[] = SCOPES) =>
  (await server.apiKeys.create({ entity, name: 'test', scopes })).secret;

async function ask<T>(query: string, variables: object, key = BOOTSTRAP_KEY) {
  const answer = await send(server, { url: '/graphql', headers: basic(key), body: { query, variables } });
  return answer.json<{ data: T; errors?: { message: string }[] }>();
}

const CREATE = `mutation CreateArtifact($input: CreateArtifactInput!) {
  createArtifact(input: $input) { artifact { id state artifactSequence { latestArtifact { id } } } } }`;
const MANIFEST = `mutation CreateArtifactManifest($id: ID!) {
  createArtifactManifest(input: {artifactID: $id, name: "wandb_manifest.json", digest: "", entityName: "default", projectName: "p", runName: "r"}) {
    artifactManifest { id file { uploadUrl uploadHeaders } } } }`;
const FILES = `mutation CreateArtifactFiles($files: [CreateArtifactFileSpecInput!]!) {
  createArtifactFiles(input: {artifactFiles: $files, storageLayout: V2}) { files { edges { node { uploadUrl } } } } }`;
const COMMIT = `mutation CommitArtifact($id: ID!) { commitArtifact(input: {artifactID: $id}) { artifact { id digest versionIndex } } }`;
const READ = `query($name: String!) { project(name: "p", entityName: "default") { artifact(name: $name) {
  id digest size aliases { alias } currentManifest { file { directUrl } } files { edges { node { name directUrl } } } } } }`;

interface Created {
  createArtifact: { artifact: { id: string; state: string } };
}
interface Links {
  createArtifactFiles: { files: { edges: { node: { uploadUrl: string | null } }[] } };
}
interface ManifestLink {
  createArtifactManifest: { artifactManifest: { file: { uploadUrl: string } } };
}
interface Committed {
  commitArtifact: { artifact: { id: string; digest: string; versionIndex: number } };
}
interface Read {
  project: {
    artifact: {
      id: string;
      digest: string;
      aliases: { alias: string }[];
      currentManifest: { file: { directUrl: string } };
      files: { edges: { node: { name: string; directUrl: string } }[] };
    } | null;
  } | null;
}

type Files = Readonly<Record<string, string>>;

const md5 = (text: string) => createHash('md5').update(text).digest('base64');
const digestOf = (files: Files) =>
  createHash('md5')
    .update('wandb-artifact-manifest-v1\n')
    .update(
      Object.keys(files)
        .sort()
        .map((path) => `${path}:${md5(files[path]!)}\n`)
        .join(''),
    )
    .digest('hex');

const announced = (name: string, files: Files, change: object = {}) => ({
  ...{ entityName: 'default', projectName: 'p', runName: 'r', artifactTypeName: 'dataset' },
  ...{ artifactCollectionName: name, digest: digestOf(files), aliases: [{ alias: 'latest' }], clientID: randomUUID() },
  ...change,
});

const create = (input: object, key?: string) => ask<Created>(CREATE, { input }, key);
const put = (url: string, body: string) => {
  const { pathname, search } = new URL(url);
  return send(server, { method: 'PUT', url: `${pathname}${search}`, headers: { authorization: '' }, body });
};
const fetchLink = (url: string) => {
  const { pathname, search } = new URL(url);
  return send(server, { url: `${pathname}${search}`, headers: { authorization: '' } });
};

const specs = (id: string, files: Files) =>
  Object.entries(files).map(([name, text]) => ({ artifactID: id, name, md5: md5(text) }));
const links = async (id: string, files: Files) =>
  (await ask<Links>(FILES, { files: specs(id, files) })).data.createArtifactFiles.files.edges.map(
    ({ node }) => node.uploadUrl,
  );

async function putManifest(id: string, files: Files, change: object = {}) {
  const contents = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, { digest: md5(text), size: text.length, ...change }]),
  );
  const answer = await ask<ManifestLink>(MANIFEST, { id });
  const { uploadUrl } = answer.data.createArtifactManifest.artifactManifest.file;
  expect((await put(uploadUrl, JSON.stringify({ version: 1, contents }))).statusCode).toBe(200);
}

async function upload(
  name: string,
  files: Files,
  change: object = {},
): Promise<Committed['commitArtifact']['artifact']> {
  const { id } = (await create(announced(name, files, change))).data.createArtifact.artifact;
  const texts = Object.values(files);
  for (const [at, url] of (await links(id, files)).entries()) if (url) await put(url, texts[at]!);
  await putManifest(id, files);
  return (await ask<Committed>(COMMIT, { id })).data.commitArtifact.artifact;
}

test('a version exists once it is committed, whatever is repeated, and reads back byte by byte', async () => {
  const files = { 'a.jsonl': '{"a":1}\n', 'more/b.txt': 'b' };
  const input = announced('data', files, {
    metadata: '{"rows":1}',
    aliases: [{ alias: 'latest' }, { alias: 'step7' }],
  });
  const made = await create(input);
  const { id } = made.data.createArtifact.artifact;
  expect(made.data).toMatchObject({
    createArtifact: { artifact: { state: 'PENDING', artifactSequence: { latestArtifact: null } } },
  });
  expect((await create(input)).data.createArtifact.artifact.id).toBe(id);
  const [first, second] = await links(id, files);
  for (let i = 0; i < 2; i++) expect((await put(first!, '{"a":1}\n')).statusCode).toBe(200);
  expect((await put(second!, 'another')).json()).toMatchObject({ error: { code: 'checksum_mismatch' } });
  await putManifest(id, files);
  const early = await ask(COMMIT, { id });
  expect(early).toMatchObject({ data: null, errors: [{ message: containing('more/b.txt') }] });
  expect((await ask<Read>(READ, { name: 'data' })).data.project?.artifact).toBeNull();
  expect((await put(second!, 'b')).statusCode).toBe(200);
  for (let i = 0; i < 2; i++)
    expect((await ask(COMMIT, { id })).data).toMatchObject({
      commitArtifact: { artifact: { id, versionIndex: 0, digest: digestOf(files) } },
    });

  const read = (await ask<Read>(READ, { name: 'data:step7' })).data.project!.artifact!;
  expect([read.id, read.aliases.map(({ alias }) => alias).sort()]).toEqual([id, ['latest', 'step7']]);
  for (const { node } of read.files.edges)
    expect((await fetchLink(node.directUrl)).body).toBe(files[node.name as keyof typeof files]);
  const manifest = (await fetchLink(read.currentManifest.file.directUrl)).json<{ contents: object }>();
  expect(manifest.contents).toMatchObject({ 'more/b.txt': { digest: md5('b'), size: 1 } });
  expect((await send(server, { url: '/v1/artifacts/default/p/data:v0' })).json()).toMatchObject({
    id,
    metadata: { rows: 1 },
  });

  const again = await create(announced('data', files, { aliases: [{ alias: 'same' }] }));
  expect(again.data.createArtifact.artifact).toMatchObject({ id, state: 'COMMITTED' });
  expect((await ask<Read>(READ, { name: 'data:same' })).data.project!.artifact!.id).toBe(id);
  const more = { ...files, 'c.txt': 'c' };
  const next = await create(announced('data', more));
  expect((await links(next.data.createArtifact.artifact.id, more)).map((url) => url !== null)).toEqual([
    false,
    false,
    true,
  ]);
});

test('a version made through the other API has the same digest here, and deleting it deletes it there too', async () => {
  const sent = await send(server, { method: 'PUT', url: '/v1/artifacts/~/p/ours/train.jsonl', body: 'text' });
  expect(sent.statusCode).toBe(201);
  const read = (await ask<Read>(READ, { name: 'ours:v0' })).data.project!.artifact!;
  expect(read.digest).toBe(digestOf({ 'train.jsonl': 'text' }));
  const gone = await ask('mutation($id: ID!) { deleteArtifact(input: {artifactID: $id}) { artifact { id } } }', {
    id: read.id,
  });
  expect(gone.errors).toBeUndefined();
  expect((await send(server, { url: '/v1/artifacts/~/p/ours:v0' })).statusCode).toBe(404);
  expect((await fetchLink(read.files.edges[0]!.node.directUrl)).statusCode).toBe(404);
});

test('the files of a version are listed with their sizes and MD5s: all, or those that are named', async () => {
  await upload('several', { 'a.txt': 'a', 'sub/b.txt': 'bb', c: 'ccc' });
  const LIST = `query($names: [String!]) { project(name: "p") { artifactCollection(name: "several") { artifactMembership(aliasName: "v0") {
    files(names: $names, first: 2) { totalCount pageInfo { hasNextPage } edges { node { name: displayName sizeBytes md5 url } } } } } } }`;
  const list = async (names: readonly string[] | null) =>
    (await ask<{ project: { artifactCollection: { artifactMembership: { files: object } } } }>(LIST, { names })).data
      .project.artifactCollection.artifactMembership.files;
  const node = { name: 'sub/b.txt', sizeBytes: 2, md5: md5('bb'), url: containing('/wandb/files?link=') };
  expect(await list(null)).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
  expect(await list(['sub/b.txt', 'none'])).toEqual({
    totalCount: 1,
    pageInfo: { hasNextPage: false },
    edges: [{ node }],
  });
});

test('an entity learns nothing of another’s artifacts, and a link to one thing opens nothing else', async () => {
  const files = { 'secret.txt': 'secret' };
  const { id } = await upload('mine', files);
  const others = await newKey('others');
  const byId = 'query($id: ID!) { artifact(id: $id) { id } }';
  expect((await ask(byId, { id }, others)).data).toEqual({ artifact: null });
  expect((await ask<Read>(READ, { name: 'mine' }, others)).data.project).toBeNull();
  expect(await create(announced('mine', files), others)).toMatchObject({
    errors: [{ message: containing('This key belongs to the entity') }],
  });
  const begun = (await create(announced('begun', files))).data.createArtifact.artifact.id;
  for (const [query, variables] of [
    [COMMIT, { id: begun }],
    [FILES, { files: specs(begun, files) }],
    ['mutation($id: ID!) { deleteArtifact(input: {artifactID: $id}) { artifact { id } } }', { id }],
    ['mutation($id: ID!) { updateArtifact(input: {artifactID: $id, metadata: "{}"}) { artifact { id } } }', { id }],
    ['mutation($id: ID!) { addAliases(input: {artifactID: $id, aliases: [{alias: "x"}]}) { success } }', { id }],
  ] as const)
    expect(await ask(query, variables, others)).toMatchObject({
      data: null,
      errors: [{ message: containing('No artifact') }],
    });
  const reader = await newKey('default', ['read']);
  expect(await create(announced('x', files), reader)).toMatchObject({
    errors: [{ message: containing('scope train') }],
  });
  const read = (await ask<Read>(READ, { name: 'mine' })).data.project!.artifact!;
  expect((await put(read.files.edges[0]!.node.directUrl, 'other')).statusCode).toBe(403);
  expect((await fetchLink((await links(begun, { 'new.txt': 'new' }))[0]!)).statusCode).toBe(403);
});

test('lists of types and names show one entity’s own, and continue after the last page', async () => {
  for (const name of ['one', 'three', 'two']) await upload(name, { a: name }, { projectName: 'listed' });
  const LIST = `query($entity: String!, $after: String) { project(name: "listed", entityName: $entity) {
    artifactTypes { edges { node { name createdAt } } }
    artifactType(name: "dataset") { artifactCollections(after: $after, first: 2) {
      totalCount pageInfo { endCursor hasNextPage } edges { node { id name createdAt } } } } } }`;
  interface Listed {
    project: {
      artifactTypes: object;
      artifactType: {
        artifactCollections: { pageInfo: { endCursor: string }; edges: { node: { id: string; name: string } }[] };
      };
    };
  }
  const { project } = (await ask<Listed>(LIST, { entity: 'default' })).data;
  const { artifactCollections: first } = project.artifactType;
  expect(first).toMatchObject({
    totalCount: 3,
    pageInfo: { hasNextPage: true },
    edges: [{ node: { name: 'one' } }, { node: { name: 'three' } }],
  });
  const next = await ask<Listed>(LIST, { entity: 'default', after: first.pageInfo.endCursor });
  expect(next.data.project.artifactType.artifactCollections).toMatchObject({
    pageInfo: { hasNextPage: false },
    edges: [{ node: { name: 'two' } }],
  });
  expect(await ask(LIST, { entity: 'default', after: 'x' })).toMatchObject({
    errors: [{ message: containing('no item') }],
  });

  const others = await newKey('others');
  expect((await ask(LIST, { entity: 'default' }, others)).data).toEqual({ project: null });
  expect((await ask(LIST, { entity: 'others' }, others)).data).toMatchObject({
    project: { artifactTypes: { edges: [] }, artifactType: { artifactCollections: { totalCount: 0, edges: [] } } },
  });
  const BY_ID = 'query($id: ID!) { artifactCollection(id: $id) { name aliases { edges { node { alias } } } } }';
  const { id } = first.edges[0]!.node;
  expect((await ask(BY_ID, { id })).data).toEqual({
    artifactCollection: { name: 'one', aliases: { edges: [{ node: { alias: 'latest' } }] } },
  });
  expect((await ask(BY_ID, { id }, others)).data).toEqual({
    artifactCollection: { name: 'one', aliases: { edges: [] } },
  });
});

test.each([
  ['a name with a slash', { artifactCollectionName: 'a/b' }, 'is not a valid name'],
  ['a name with an escape', { artifactCollectionName: 'a\u009b2J' }, 'control characters'],
  ['a name that is shown as another', { artifactCollectionName: 'a\u202eb' }, 'direction of writing'],
  ['a name that is a path', { artifactCollectionName: '..' }, 'must not be . or ..'],
  ['an alias that is a version', { aliases: [{ alias: 'v3' }] }, 'is not a valid alias'],
  ['metadata that are no object', { metadata: '[1]' }, 'JSON object'],
  ['metadata that are long', { metadata: JSON.stringify({ a: 'x'.repeat(40_000) }) }, 'at most'],
  ['another digest', { digestAlgorithm: 'MANIFEST_XXH128' }, 'MD5'],
  ['a tag', { tags: [{ tagName: 'a', tagCategoryName: null, attributes: null }] }, 'Use aliases'],
  ['a time to live', { ttlDurationSeconds: 3_600 }, 'time to live'],
  ['an artifact that several processes fill', { distributedID: 'group' }, 'upsert_artifact'],
])('%s is refused before any upload', async (_, change, word) => {
  expect(await create(announced('bad', { a: 'a' }, change))).toMatchObject({ errors: [{ message: containing(word) }] });
});

test.each([
  ['a reference', { ref: 'https://example.com/a' }, 'not references'],
  ['another size', { size: 7 }, 'it lacks 1 of 1 file (a)'],
  ['no digest', { digest: 'x' }, 'no MD5'],
])('a list of files with %s is refused when it is committed', async (_, change, word) => {
  const files = { a: 'abc' };
  const { id } = (await create(announced('listed', files))).data.createArtifact.artifact;
  const [url] = await links(id, files);
  if (url) await put(url, 'abc');
  await putManifest(id, files, change);
  expect(await ask(COMMIT, { id })).toMatchObject({ data: null, errors: [{ message: containing(word) }] });
});

test('a list of changes is refused, and so are changes of what is not stored', async () => {
  const files = { a: 'whole' };
  const { id } = (await create(announced('changing', files))).data.createArtifact.artifact;
  const changes = MANIFEST.replace('digest: ""', 'digest: "", type: INCREMENTAL');
  expect(await ask(changes, { id })).toMatchObject({ errors: [{ message: containing('incremental=True') }] });
  const made = await upload('changing', files);
  const UPDATE = `mutation($input: UpdateArtifactInput!) { updateArtifact(input: $input) { artifact { id } } }`;
  for (const [change, word] of [
    [{ description: 'words' }, 'Use metadata'],
    [{ ttlDurationSeconds: 60 }, 'time to live'],
  ] as const)
    expect(await ask(UPDATE, { input: { artifactID: made.id, ...change } })).toMatchObject({
      errors: [{ message: containing(word) }],
    });
  const same = { artifactID: made.id, description: null, ttlDurationSeconds: -2 };
  expect(await ask(UPDATE, { input: same })).toMatchObject({ data: { updateArtifact: { artifact: { id: made.id } } } });
});

test('an upload that is not committed is deleted after a day, and its account gets its bytes back', async () => {
  const files = { 'left.txt': `left ${randomUUID()}` };
  const { id } = (await create(announced('left', files))).data.createArtifact.artifact;
  const used = () => server.storage.accounts.storedBytes({ entity: 'default', keyId: null });
  const before = await used();
  await put((await links(id, files))[0]!, files['left.txt']);
  server.clock.advance(25 * 60 * 60 * 1000);
  await server.services.artifacts.cleanUp();
  expect(await used()).toBeLessThan(before);
  expect(await ask(COMMIT, { id })).toMatchObject({ errors: [{ message: containing('after a day') }] });
});
