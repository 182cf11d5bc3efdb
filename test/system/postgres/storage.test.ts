// The storage contract on a real Postgres, and behaviour that only several servers on one database have.
import { Kysely } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import type { Storage } from '#storage/storage';
import { openPostgresStorage } from '#storage/sql/open-postgres';
import { createPostgresDialect } from '#storage/sql/postgres-dialect';
import { fromEvent, type Tables } from '#storage/sql/rows';
import { openSqlStorage } from '#storage/sql/sql-storage';
import { storageContract } from '../../support/contract/storage.ts';
import { addModel, aJob, anEvent, closing } from '../../support/contract/stored-rows.ts';
import { createRecordingLog } from '../../support/serving/recording-log.ts';
import { skipWithout } from '../../support/skipping.ts';
import { startPostgres } from '../../support/postgres/postgres-server.ts';

const server = await startPostgres();
const opened: Storage[] = [];
// After each test: a fast machine would use up the server's 100 connections before idle ones close.
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
});
afterAll(() => server?.stop());

async function open(url?: string): Promise<Storage> {
  const storage = await openPostgresStorage({ url: url ?? (await server!.createDatabase()), log: silentLog });
  opened.push(storage);
  return storage;
}

describe('Postgres', skipWithout('POSTGRES', server !== null), () => {
  storageContract('postgres', () => open());

  test('servers that start at once bring the schema up to date once', async () => {
    const url = await server!.createDatabase();
    const storages = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    for (const storage of storages) await storage.ping();
  });

  test('a server that starts waits for the migration of another, however long it takes', async () => {
    const url = await server!.createDatabase();
    const [migrating, watching] = [new pg.Client(url), new pg.Client(url)];
    await Promise.all([migrating.connect(), watching.connect()]);
    await migrating.query('begin');
    await migrating.query(`select pg_advisory_xact_lock(${0x77686574})`);
    const dialect = createPostgresDialect(url, { limits: { statementMs: 50 } });
    const opening = openSqlStorage(dialect, 'here', silentLog);
    opening.then(
      (storage) => opened.push(storage),
      () => {},
    );
    const waited = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and now() - query_start > interval '200 ms'`;
    await vi.waitFor(async () => expect((await watching.query(waited)).rowCount).toBe(1), { timeout: 30_000 });
    await migrating.query('commit');
    await Promise.all([migrating.end(), watching.end()]);
    await (await opening).ping();
  });

  test('a server that stands still in a transaction does not keep the others waiting', async () => {
    const url = await server!.createDatabase();
    const still = new Kysely<Tables>({ dialect: createPostgresDialect(url, { limits: { idleMs: 50 } }).kysely });
    let go: (() => void) | null = null;
    const frozen = still.transaction().execute(() => new Promise<void>((resolve) => (go = resolve)));
    const end = expect(frozen).rejects.toThrow();
    await vi.waitFor(() => expect(go).not.toBeNull());
    await (await open(url)).ping();
    go!();
    await end;
    await still.destroy();
  });

  test('servers share jobs without claiming one twice, and number their rows without gaps or clashes', async () => {
    const url = await server!.createDatabase();
    const storages = await Promise.all(Array.from({ length: 3 }, () => open(url)));
    const models = await Promise.all(
      Array.from({ length: 12 }, (_, i) => addModel(storages[i % 3]!, { entity: `team-${i % 4}` })),
    );
    await Promise.all(
      models.map(({ id: modelId, entity }, i) =>
        storages[i % 3]!.jobs.create({
          id: createId(),
          type: 'rl',
          modelId,
          entity,
          keyId: 'k',
          bodyBlob: 'x',
          createdAtMs: 1,
        }),
      ),
    );
    const claims = await Promise.all(
      Array.from({ length: 24 }, (_, i) => storages[i % 3]!.jobs.claim(`worker-${i % 3}`, 10, 1_000, null)),
    );
    const ids = claims.flatMap((job) => (job ? [job.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(12);
  });

  test('no change of one account waits for one of another', async () => {
    const url = await server!.createDatabase();
    const storage = await open(url);
    const [ours, theirs] = [await addModel(storage), await addModel(storage, { entity: 'other' })];
    const [mine, next] = [await storage.jobs.create(aJob(ours.id)), aJob(ours.id)];
    const locked = await storage.jobs.create(aJob(theirs.id, 'other'));
    expect(await storage.jobs.claim('w', 10, 1_000_000, null)).toMatchObject({ id: mine.id });
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    try {
      // Somebody else changes their job and has not committed yet: its cancellation waits, inside its transaction.
      await holder.query('begin');
      await holder.query('select * from training_jobs where id = $1 for update', [locked.id]);
      const waiting = storage.jobs.requestCancel(locked.id, 20, closing(locked.id, 0).event);
      waiting.catch(() => {}); // awaited below
      await vi.waitFor(async () => {
        const { rows } = await holder.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
        expect(rows).toHaveLength(1);
      }, 10_000);
      await storage.jobs.create(next);
      expect(await storage.jobs.finish(mine.id, 1, closing(mine.id, 0))).toBe(true);
      expect(await storage.jobs.requestCancel(next.id, 20, closing(next.id, 0).event)).toBe('cancelled');
      const webhook = { id: createId(), entity: 'team', url: 'https://example.com', events: [], secret: 's' };
      expect(await storage.webhooks.create({ ...webhook, createdAtMs: 1, disabledAtMs: null }, 10)).toBe('created');
      await storage.webhooks.disable(webhook.id, 2);
      expect(await storage.artifacts.touchContents('team', [], 1)).toEqual([]);
      const { id: modelId } = await addModel(storage, { name: 'another' });
      const step = await storage.checkpoints.findLatest(modelId);
      await storage.checkpoints.mergeMetrics(step!.id, { reward: 1 });
      expect(await storage.checkpoints.add({ ...step!, id: createId(), fresh: false })).toMatchObject({ step: 1 });
      const episode = { id: createId(), entity: 'team', modelId, name: 'e', groupName: null, metadata: {} };
      const payer = { keyId: '', keyBytesMax: null, entityBytesMax: null };
      const bounds = { openMax: 9, callsMax: 9, tokensMax: 9 };
      expect(await storage.episodes.create(episode, bounds, payer, 1)).toMatchObject({ outcome: 'created' });
      expect(await storage.episodes.delete(episode.id, 2)).toBe(true);
      expect(await storage.evaluations.requestCancel(mine.id, 30)).toBe('not_found');
      const run = { id: createId(), entity: 'team', project: 'p', name: 'r' };
      expect(await storage.runs.upsert(run, {}, payer, 1)).toMatchObject({ outcome: 'created' });
      expect(await storage.runs.delete(run.id)).toBe(true);
      await holder.query('rollback');
      expect(await waiting).toBe('cancelled');
    } finally {
      await holder.end();
    }
  });

  test('a change of one job waits for no change of another, and reading for neither', async () => {
    const url = await server!.createDatabase();
    const storages = await Promise.all([open(url), open(url)]);
    const jobs = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const { id } = await addModel(storages[0]);
        return (await storages[0].jobs.create(aJob(id))).id;
      }),
    );
    const blocked = jobs.slice(1);
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    try {
      // Somebody else writes the same events and has not committed yet.
      await holder.query('begin');
      const insert = 'insert into training_events select * from jsonb_populate_record(null::training_events, $1)';
      for (const job of blocked) await holder.query(insert, [JSON.stringify(fromEvent(anEvent(job, 0)))]);
      const waiting = Promise.all(blocked.map((job) => storages[0].events.append(anEvent(job, 0))));
      waiting.catch(() => {}); // awaited below
      await vi.waitFor(async () => {
        const { rows } = await holder.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
        expect(rows.length).toBeGreaterThan(3);
      }, 10_000);
      const beganMs = performance.now();
      for (const storage of storages) expect(await storage.jobs.find(jobs[0]!)).not.toBeNull();
      expect(await storages[1].events.append(anEvent(jobs[0]!, 0))).toBe(true);
      expect(performance.now() - beganMs).toBeLessThan(4_000);
      await holder.query('rollback');
      expect(await waiting).toEqual(blocked.map(() => true));
    } finally {
      await holder.end();
    }
  });

  test('connections that the database ends while they are idle are in the log', async () => {
    const log = createRecordingLog();
    const url = await server!.createDatabase();
    const storage = await openPostgresStorage({ url, log });
    opened.push(storage);
    await storage.ping(); // its connection is idle now
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    );
    await other.end();
    await vi.waitFor(() => expect(log.lines.map(({ event }) => event)).toContain('database.connection_lost'), 10_000);
    await storage.ping();
  });

  test('the error for a database that does not answer leaves out its password', async () => {
    const nowhere = openPostgresStorage({ url: 'postgres://me:secret@127.0.0.1:9/db', log: silentLog });
    await expect(nowhere).rejects.toThrow(
      /^Cannot open the database postgres:\/\/127\.0\.0\.1:9\/db: .*WHETSTONE_DATABASE_URL/,
    );
    await expect(nowhere).rejects.not.toThrow('secret');
  });
});
