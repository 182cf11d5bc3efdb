// Makes what attacks aim at: a key that is no administrator's, a model, a file of rows, an artifact of many versions with many files, a run
// with a long history, runs with wide configurations, a stored response, a Tinker run and its sampler.
import type { BenchServer } from '../bench-server.ts';
import type { Target } from './client.ts';
import { ROWS } from './training-attacks.ts';

const VERSIONS = 12;
const FILES = 9_900;
const WIDE_RUNS = 40;
const HISTORY = { parts: 40, rows: 1_000 };

export async function makeTarget(server: BenchServer, model: string): Promise<Target> {
  const ask = async (method: string, path: string, body: unknown, key = server.key): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(`${server.url}${path}`, { method, headers, body: sent });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const { secret: key } = (await ask('POST', '/v1/keys', { name: 'hostile' })) as { secret: string };
  const registered = { project: 'hostile', name: 'pupil', base_model: model };
  const { id: pupil } = (await ask('POST', '/v1/preview/models', registered, key)) as { id: string };
  const rows = '/v1/artifacts/default/hostile/rows';
  const { uri, files } = (await ask('PUT', `${rows}/train.jsonl`, ROWS, key)) as {
    uri: string;
    files: [{ sha256: string }];
  };
  const { sha256 } = files[0];
  for (let version = 0; version < VERSIONS; version++) {
    const many = Array.from({ length: FILES }, (_, i) => ({ path: `v${version}/file-${i}.bin`, sha256 }));
    await ask('PUT', '/v1/artifacts/default/hostile/many', { type: 'dataset', files: many }, key);
  }
  const query = 'mutation { upsertBucket(input: {name: "r", modelName: "hostile", config: "{}"}) { inserted } }';
  await ask('POST', '/graphql', { query }, key);
  for (let part = 0; part < HISTORY.parts; part++) {
    const content = Array.from({ length: HISTORY.rows }, (_, i) => {
      const _step = part * HISTORY.rows + i;
      return JSON.stringify({ _step, loss: 1 / (1 + _step), note: 'x'.repeat(200) });
    });
    const body = { files: { 'wandb-history.jsonl': { offset: part * HISTORY.rows, content } } };
    await ask('POST', '/files/default/hostile/r/file_stream', body, key);
  }
  const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, i])));
  for (let i = 0; i < WIDE_RUNS; i++)
    await ask(
      'POST',
      '/graphql',
      {
        query: `mutation($c: JSONString) { upsertBucket(input: {name: "wide-${i}", modelName: "hostile", config: $c, summaryMetrics: $c}) { inserted } }`,
        variables: { c: wide },
      },
      key,
    );
  const said = Array.from({ length: 50 }, () => ({ role: 'user', content: 'a' }));
  const long = { type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(10_000_000) };
  const stored = { model, input: [long, ...said], max_output_tokens: 1 };
  const { id: response } = (await ask('POST', '/v1/responses', stored, key)) as { id: string };
  const api = '/tinker/api/v1';
  const { session_id } = (await ask('POST', `${api}/create_session`, {}, key)) as { session_id: string };
  const created = { session_id, model_seq_id: 0, base_model: model };
  const { model_id: run } = (await ask('POST', `${api}/create_model`, created, key)) as { model_id: string };
  await ask(
    'POST',
    `${api}/create_sampling_session`,
    { session_id, sampling_session_seq_id: 0, base_model: model },
    key,
  );
  const sampler = `${session_id}:sampler:0`;
  return { url: server.url, key, adminKey: server.key, model, pupil, response, rows: { uri, sha256 }, run, sampler };
}
