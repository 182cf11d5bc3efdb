// What the W&B protocol has acknowledged during faults: points of runs and commits of artifacts, from a client that repeats
// unanswered requests, as the wandb library does. Afterwards each point and each version exists exactly once.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import { BASE, BOOTSTRAP_KEY } from '../../support/api/test-server.ts';
import { openTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { createFaults, type Faults } from './faults.ts';
import { runFaultyServer } from './faulty-server.ts';
import { openFaultyFiles } from './faulty-storage.ts';

const SEED = Number(process.env['WHETSTONE_FAULTS_SEED'] ?? 1);
const FAULTS_MIN = 100;
const PIECES = 3;
const LINES = 20;
/** A request that takes longer hangs. */
const REQUEST_MS_MAX = 15_000;

const CREATE = `mutation($input: CreateArtifactInput!) { createArtifact(input: $input) { artifact { id state } } }`;
const LINKS = `mutation($files: [CreateArtifactFileSpecInput!]!) {
  createArtifactFiles(input: { artifactFiles: $files }) { files { edges { node { uploadUrl } } } } }`;
const MANIFEST = `mutation($id: ID!) {
  createArtifactManifest(input: { artifactID: $id, name: "m", digest: "", entityName: "default", projectName: "p", runName: "r" }) {
    artifactManifest { file { uploadUrl } } } }`;
const COMMIT = `mutation($id: ID!) { commitArtifact(input: { artifactID: $id }) { artifact { id versionIndex } } }`;
const UPSERT = `mutation($name: String) {
  upsertBucket(input: { name: $name, modelName: "p", entityName: "default" }) { bucket { name } inserted } }`;
const VERSIONS = `{ project(name: "p", entityName: "default") { artifactType(name: "dataset") { artifactCollection(name: "data") {
  artifacts(order: "+created_at") { totalCount edges { version node { id files { edges { node { name directUrl } } } } } } } } } }`;
const HISTORY = `query($name: String!) { project(name: "p", entityName: "default") { run(name: $name) {
  historyLineCount history(minStep: 0, maxStep: 10000, samples: 1000) outputArtifacts { edges { node { id } } } } } }`;

const md5 = (text: string) => createHash('md5').update(text).digest('base64');

/** Until it is acknowledged, or refused for good. */
function createClient(url: () => string, faults: Faults) {
  async function once(method: string, path: string, body?: string): Promise<Response | null> {
    const key = Buffer.from(`api:${BOOTSTRAP_KEY}`).toString('base64');
    const headers = {
      authorization: `Basic ${key}`,
      'content-type': path.startsWith('/wandb') ? 'application/octet-stream' : 'application/json',
    };
    const base = url(); // throws if no server can start any more
    try {
      const signal = AbortSignal.timeout(REQUEST_MS_MAX);
      const response = await fetch(`${base}${path}`, {
        method,
        headers,
        signal,
        ...(body === undefined ? {} : { body }),
      });
      return new Response(await response.arrayBuffer(), { status: response.status });
    } catch (error) {
      if ((error as Error).name !== 'TimeoutError') return null;
      throw new Error(`${method} ${path} hung. Before: ${faults.recent.join('; ')}`, { cause: error });
    }
  }

  async function send(method: string, path: string, body?: string): Promise<string> {
    for (;;) {
      const response = await once(method, path, body);
      const text = response && (await response.text());
      if (response?.ok) return text!;
      if (response && response.status !== 503)
        throw new Error(`${method} ${path}: ${response.status} ${text}. Before: ${faults.recent.join('; ')}`);
      await sleep(10);
    }
  }

  return {
    send,
    async ask<T>(query: string, variables: object = {}): Promise<T> {
      const { data, errors } = JSON.parse(await send('POST', '/graphql', JSON.stringify({ query, variables }))) as {
        data: T;
        errors?: object[];
      };
      if (errors) throw new Error(`${JSON.stringify(errors)}. Before: ${faults.recent.join('; ')}`);
      return data;
    },
  };
}

type Client = ReturnType<typeof createClient>;

const pathOf = (link: string) => link.slice(new URL(link).origin.length);

const linesOf = (run: number) =>
  Array.from({ length: PIECES * LINES }, (_, step) => JSON.stringify({ _step: step, loss: run }));

async function logRun(client: Client, number: number): Promise<void> {
  await client.ask(UPSERT, { name: `run-${number}` });
  const lines = linesOf(number);
  for (let offset = 0; offset < lines.length; offset += LINES) {
    const content = lines.slice(offset, offset + LINES);
    const files = { 'wandb-history.jsonl': { offset, content } };
    await client.send('POST', `/files/default/p/run-${number}/file_stream`, JSON.stringify({ files }));
  }
}

const filesOf = (number: number): Readonly<Record<string, string>> => ({
  'own.txt': `of ${number}`,
  'shared.txt': 'of all',
});

/** Returns what the commit has acknowledged, twice. */
async function logArtifact(client: Client, number: number): Promise<{ id: string; versionIndex: number }> {
  const files = Object.entries(filesOf(number)).sort();
  const digest = createHash('md5')
    .update(`wandb-artifact-manifest-v1\n${files.map(([path, text]) => `${path}:${md5(text)}\n`).join('')}`)
    .digest('hex');
  const about = { entityName: 'default', projectName: 'p', runName: `run-${number}`, artifactTypeName: 'dataset' };
  const input = { ...about, artifactCollectionName: 'data', digest, aliases: [], clientID: randomUUID() };
  type Created = { createArtifact: { artifact: { id: string } } };
  const { id } = (await client.ask<Created>(CREATE, { input })).createArtifact.artifact;
  type Links = { createArtifactFiles: { files: { edges: { node: { uploadUrl: string | null } }[] } } };
  const specs = files.map(([name, text]) => ({ artifactID: id, name, md5: md5(text) }));
  const { edges } = (await client.ask<Links>(LINKS, { files: specs })).createArtifactFiles.files;
  for (const [at, { node }] of edges.entries())
    if (node.uploadUrl !== null) await client.send('PUT', pathOf(node.uploadUrl), files[at]![1]);
  type Manifest = { createArtifactManifest: { artifactManifest: { file: { uploadUrl: string } } } };
  const { file } = (await client.ask<Manifest>(MANIFEST, { id })).createArtifactManifest.artifactManifest;
  const contents = Object.fromEntries(files.map(([path, text]) => [path, { digest: md5(text), size: text.length }]));
  await client.send('PUT', pathOf(file.uploadUrl), JSON.stringify({ version: 1, contents }));
  type Committed = { commitArtifact: { artifact: { id: string; versionIndex: number } } };
  const committed = (await client.ask<Committed>(COMMIT, { id })).commitArtifact.artifact;
  expect((await client.ask<Committed>(COMMIT, { id })).commitArtifact.artifact).toEqual(committed);
  return committed;
}

async function readRun(client: Client, number: number) {
  type Read = {
    project: {
      run: { historyLineCount: number; history: string[]; outputArtifacts: { edges: { node: { id: string } }[] } };
    };
  };
  const { run } = (await client.ask<Read>(HISTORY, { name: `run-${number}` })).project;
  return { ...run, outputArtifacts: run.outputArtifacts.edges.map(({ node }) => node.id) };
}

async function readVersions(client: Client) {
  interface Version {
    readonly version: string;
    readonly node: { id: string; files: { edges: { node: { name: string; directUrl: string } }[] } };
  }
  type Read = {
    project: { artifactType: { artifactCollection: { artifacts: { totalCount: number; edges: Version[] } } } };
  };
  const { totalCount, edges } = (await client.ask<Read>(VERSIONS)).project.artifactType.artifactCollection.artifacts;
  const versions = [];
  for (const { version, node } of edges) {
    const files: Record<string, string> = {};
    for (const { node: file } of node.files.edges) files[file.name] = await client.send('GET', pathOf(file.directUrl));
    versions.push({ id: node.id, version, files });
  }
  return { totalCount, versions };
}

test('a hundred faults lose and double no point and no version that the W&B protocol acknowledged', async () => {
  const model = await openTinyChatModel(BASE);
  const options = { modelDirectory: model.directory, threads: 1, memoryBytes: 4e9, log: silentLog };
  const engine = await openOnnxTrainingEngine(options);
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-faults-wandb-'));
  const faults = createFaults(SEED, 0.04, () => {}); // without clock jumps, because links of the protocol expire
  mkdirSync(directory, { recursive: true });
  const server = await runFaultyServer({
    directory,
    openDialect: () => createSqliteDialect(join(directory, 'whetstone.db')),
    openBlobs: (process) => openFaultyFiles(join(directory, 'blobs'), process, faults),
    databaseFaults: ['kill before', 'kill after', 'database locked', 'disk full', 'read-only disk'],
    exclusive: true,
    model,
    engine,
    faults,
    clock: { now: () => systemClock.now(), advance: () => {} },
  });
  try {
    const client = createClient(server.url, faults);
    const committed: { id: string; versionIndex: number }[] = [];
    while (faults.total() < FAULTS_MIN) {
      await logRun(client, committed.length);
      committed.push(await logArtifact(client, committed.length));
    }
    faults.cease();
    for (const [number, { id }] of committed.entries()) {
      const lines = linesOf(number);
      expect(await readRun(client, number)).toEqual({
        historyLineCount: lines.length,
        history: lines,
        outputArtifacts: [id],
      });
    }
    expect(committed.map(({ versionIndex }) => versionIndex)).toEqual(committed.map((_, number) => number));
    const versions = committed.map(({ id }, number) => ({ id, version: `v${number}`, files: filesOf(number) }));
    expect(await readVersions(client)).toEqual({ totalCount: versions.length, versions });
    console.log(
      `SQLite, seed ${SEED}: ${faults.total()} faults, ${committed.length} rounds, ${server.restarts()} restarts.`,
    );
    expect(server.restarts()).toBeGreaterThan(10);
  } finally {
    await server.close();
    await engine.close();
    await model.close();
    await rm(directory, { recursive: true, force: true });
  }
}, 120_000);
