// Attacks on stored files and their protocols: manifests, uploads, adapters that lie, heavy pages, and GraphQL of W&B.
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { BYTES_MAX, hostileManifests } from '../../test/support/security/hostile-bodies.ts';
import { once, type Attack, type HostileClient } from './client.ts';
import { get, many } from './forms.ts';

const ARTIFACTS = '/v1/artifacts/default/hostile';

const graphql = (name: string, query: string): Attack => ({
  name: `graphql: ${name}`,
  attempt: (client) => client.post('/graphql', { query, variables: {} }),
});
const listsIn = (levels: number): string =>
  levels === 0 ? 'id' : `artifactSequence { artifacts(first: 50) { edges { node { id ${listsIn(levels - 1)} } } } }`;
const names = (many: number, field: string) => Array.from({ length: many }, (_, i) => `a${i}: ${field}`).join(' ');
const ofRun = (fields: string) => `{ project(name: "hostile") { run(name: "r") { ${fields} } } }`;
const ofArtifact = (fields: string) => `{ project(name: "hostile") { artifact(name: "many") { ${fields} } } }`;
const FRAGMENTS = once(() => {
  const doubling = Array.from({ length: 30 }, (_, i) => `fragment f${i} on Query { ...f${i + 1} ...f${i + 1} }`);
  return `{ ...f0 } ${doubling.join(' ')} fragment f30 on Query { __typename }`;
});

const upsert = (run: string) => `mutation { upsertBucket(input: {name: "${run}", modelName: "hostile"}) { inserted } }`;

const stream = (name: string, run: string, body: () => string): Attack => ({
  name,
  async attempt(client) {
    await client.post('/graphql', { query: upsert(run) });
    await client.post(`/files/default/hostile/${run}/file_stream`, body());
  },
});

let introspection = 'name';
for (let level = 0; level < 4; level++) introspection = `fields { type { ${introspection} } }`;

const GRAPHQL: readonly Attack[] = [
  graphql('lists in lists', ofArtifact(listsIn(4))),
  graphql('forty names of one history', ofRun(names(40, 'history'))),
  graphql(
    'forty names of its samples',
    ofRun(names(40, 'sampledHistory(specs: ["{\\"keys\\":[\\"loss\\"],\\"samples\\":1000}"])')),
  ),
  graphql('forty pages of files', ofArtifact(names(40, 'files { edges { node { id } } }'))),
  graphql('types of types', `{ __schema { types { ${introspection} } } }`),
  graphql('one field many times', `{ project(name: "hostile") { ${'run(name: "r") { id } '.repeat(450)} } }`),
  graphql('deep values', `{ project(name: ${'['.repeat(3_000)}`),
  graphql('deep objects', `{ a ${'{ a '.repeat(2_000)}`),
  graphql('fragments that double', FRAGMENTS()),
  graphql('a hundred thousand names', `{ ${names(100_000, '__typename')} }`),
];

/** `{"t0": …}` behind its length. */
const tensors = once(() => {
  const entry = { dtype: 'F32', shape: [0], data_offsets: [0, 0] };
  const json = Buffer.from(
    JSON.stringify(Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`t${i}`, entry]))),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json]);
});
const PLAIN_CONFIG = JSON.stringify({ peft_type: 'LORA', r: 8, lora_alpha: 16, target_modules: ['q_proj'] });
const keysOfConfig = once(
  () =>
    `{"peft_type":"LORA","r":8,"lora_alpha":16,"target_modules":["q_proj"],${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join(',')}}`,
);

const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Commits an adapter: its files are checked when the manifest arrives. */
async function commit(client: HostileClient, config: string, weights: Uint8Array): Promise<void> {
  const files = { 'adapter_config.json': Buffer.from(config), 'adapter_model.safetensors': weights };
  const name = `${ARTIFACTS}/pupil`; // of the model
  for (const [path, body] of Object.entries(files)) await client.send('PUT', `${name}:draft/${path}`, { body });
  const listed = Object.entries(files).map(([path, body]) => ({ path, sha256: sha256(body) }));
  const metadata = { model_id: client.pupil, base_model: client.model };
  await client.send('PUT', name, { body: JSON.stringify({ type: 'lora', files: listed, metadata }) });
}

export const artifactAttacks = (): readonly Attack[] => [
  ...Object.keys(hostileManifests('')).map((name): Attack => {
    let body: string | undefined;
    return {
      name: `manifest: ${name}`,
      attempt: (client) =>
        client.send('PUT', `${ARTIFACTS}/rows`, {
          body: (body ??= hostileManifests(client.rows.sha256)[name]!(BYTES_MAX)),
        }),
    };
  }),
  ...GRAPHQL,
  get('pages of artifacts', '/v1/artifacts?limit=100', 2),
  get('pages of runs', '/v1/runs?limit=100', 2),
  get('a history of a run', '/v1/runs/default/hostile/r/history?limit=1000', 2),
  stream('a file stream of tiny lines', 'tiny', TINY_LINES),
  {
    name: 'a run of many lines that is deleted',
    async attempt(client) {
      await client.post('/graphql', { query: upsert('short') });
      await client.post('/files/default/hostile/short/file_stream', TINY_LINES());
      await client.send('DELETE', '/v1/runs/default/hostile/short');
    },
  },
  stream('a file stream of wide lines', 'wide', WIDE_LINES),
  {
    name: 'an adapter whose config has a million keys',
    attempt: (client) => commit(client, keysOfConfig(), Buffer.alloc(8)),
  },
  {
    name: 'an adapter of 200,000 tensors',
    attempt: (client) => commit(client, PLAIN_CONFIG, tensors()),
  },
  {
    name: 'uploads that are cut',
    clients: 4,
    attempt: (client, random) =>
      client.onSocket(async (socket) => {
        socket.write(client.head('PUT', `${ARTIFACTS}/cut/train.jsonl`, 50_000_000, 'application/octet-stream'));
        socket.write(randomBytes(1 + random.integer(4_000_000)));
        await delay(500 * random.next());
      }),
  },
  {
    name: 'uploads with another checksum',
    attempt: (client) =>
      client.send('PUT', `${ARTIFACTS}/sum/a.bin?sha256=${'0'.repeat(64)}`, { body: randomBytes(1_000_000) }),
  },
  {
    name: 'traces of Weave',
    attempt: (client) => client.post('/traces/calls/stream_query', TRACES()),
  },
];

const TINY_LINES = once(() =>
  JSON.stringify({ files: { 'wandb-history.jsonl': { offset: 0, content: Array(240_000).fill('{}') } } }),
);
/** Each as long as a line may be, with names of its own. */
const WIDE_LINES = once(() => {
  const wide = (line: number) => JSON.stringify(Object.fromEntries(many(6_500, (i) => [`l${line}k${i}`, 1])));
  return JSON.stringify({ files: { 'wandb-history.jsonl': { offset: 0, content: many(150, wide) } } });
});
const TRACES = once(() => JSON.stringify({ project_id: 'default/hostile', filter: { ids: Array(240_000).fill('a') } }));
