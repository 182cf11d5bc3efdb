// A database whose disk is full, as SQLite reports it: requests that write get a 503 with the cause, reads continue,
// and everything works again once there is room.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, Kysely } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { withNamedFaults } from '#storage/named-faults';
import { openSqlStorage } from '#storage/sql/sql-storage';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import type { Storage } from '#storage/storage';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import { openTinyChatModel, type TinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { BASE, BOOTSTRAP_KEY, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

let directory: string;
let storage: Storage;
let model: TinyChatModel;
let server: TestServer;
let log: ReturnType<typeof createRecordingLog>;
let limitPages: (count: number) => Promise<void>;

beforeEach(async () => {
  log = createRecordingLog();
  directory = await mkdtemp(join(tmpdir(), 'whetstone-full-'));
  const dialect = createSqliteDialect(join(directory, 'whetstone.db'));
  storage = withNamedFaults(await openSqlStorage(dialect, 'test', silentLog));
  /** The same connection, because the limit applies to one connection. */
  const same = new Kysely<unknown>({ dialect: dialect.kysely });
  limitPages = async (count) => void (await same.executeQuery(CompiledQuery.raw(`pragma max_page_count = ${count}`)));
  model = await openTinyChatModel(BASE);
  const clock = { now: () => Date.now(), advance: () => {} };
  server = await openTestServer({ given: { storage, blobs: createMemoryBlobs(), model, clock }, log });
  await send(server, { url: '/v1/artifacts' }); // records the first use of the key
});
afterEach(async () => {
  await server.close();
  await model.close();
  await storage.close();
  await rm(directory, { recursive: true, force: true });
});

const put = (name: string) =>
  send(server, { method: 'PUT', url: `/v1/artifacts/~/p/${name}/${'long/'.repeat(80)}a.txt`, body: name });
const register = (name: string) =>
  send(server, { url: '/v1/webhooks', body: { url: `https://example.com/${name.repeat(300)}` } });

test.each([
  ['webhooks', register, 200],
  ['artifacts', put, 201],
])('%s are refused with 503 and the cause while the disk is full', async (_, write, made) => {
  await limitPages(1); // no more pages than there are now
  const statuses = [];
  for (let i = 0; i < 19; i++) statuses.push(await write(`n${i}`));
  const refused = statuses.filter(({ statusCode }) => statusCode !== made);
  expect(refused.length).toBeGreaterThan(3);
  for (const answer of refused) {
    expect(answer.statusCode, answer.body).toBe(503);
    expect(answer.json()).toMatchObject({ detail: 'The disk is full. Nothing was lost; try again.' });
    expect(answer.headers['retry-after']).toBe('5');
  }
  expect((await send(server, { url: '/v1/artifacts' })).statusCode).toBe(200);
  const lines = log.lines.filter(({ event }) => event === 'request.failed');
  expect(lines).toHaveLength(refused.length);
  expect(JSON.stringify(lines)).not.toMatch(/ at [^"]*\.[jt]s:|example\.com/);
  expect(lines[0]!.fields).toMatchObject({ status: 503, cause: 'SQLITE_FULL: database or disk is full' });
  expect(JSON.stringify(lines)).not.toContain(BOOTSTRAP_KEY);

  await limitPages(1_000_000);
  expect((await write('again')).statusCode).toBe(made);
});
