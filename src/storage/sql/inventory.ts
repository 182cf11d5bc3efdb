// All rows that blobs belong to, read page by page along primary keys and indexes.
import { sql, type Kysely } from 'kysely';
import { inventoriedEpisode, type EventSummary, type Inventory } from '../inventory.ts';
import { toArtifactContent } from './artifact-rows.ts';
import { toEpisode } from './episode-rows.ts';
import type { Tables } from './rows.ts';

/** Rows per query. */
const PAGE = 500;

const NO_EVENTS: EventSummary = {
  count: 0,
  firstOrdinal: null,
  lastOrdinal: null,
  endedCount: 0,
  failedCount: 0,
  closingOrdinal: null,
};

export function createInventory(db: Kysely<Tables>): Inventory {
  async function eventsOf(jobIds: readonly string[]): Promise<Map<string, EventSummary>> {
    const rows = await db
      .selectFrom('training_events')
      .select([
        'job_id',
        sql<number>`count(*)`.as('count'),
        sql<number>`min(ordinal)`.as('firstOrdinal'),
        sql<number>`max(ordinal)`.as('lastOrdinal'),
        sql<number>`sum(case when type = 'training_ended' then 1 else 0 end)`.as('endedCount'),
        sql<number>`sum(case when type = 'training_failed' then 1 else 0 end)`.as('failedCount'),
        sql<number | null>`max(case when type in ('training_ended', 'training_failed') then ordinal end)`.as(
          'closingOrdinal',
        ),
      ])
      .where('job_id', 'in', jobIds)
      .where('part', '=', 0)
      .groupBy('job_id')
      .execute();
    return new Map(rows.map(({ job_id: id, ...events }) => [id, events]));
  }

  async function callsOf(episodeIds: readonly string[]) {
    if (episodeIds.length === 0) return new Map<string, never>();
    const rows = await db
      .selectFrom('episode_calls')
      .select([
        'episode_id',
        sql<number>`count(*)`.as('count'),
        sql<number>`sum(length(tokens) + length(content))`.as('bytes'),
      ])
      .where('episode_id', 'in', [...episodeIds])
      .groupBy('episode_id')
      .execute();
    return new Map(rows.map(({ episode_id: id, count, bytes }) => [id, { count, bytes }]));
  }

  return {
    async *models() {
      const query = db.selectFrom('models').select(['id', 'entity', 'project', 'name']).orderBy('id').limit(PAGE);
      const pages = paged((last: { id: string } | null) => (last ? query.where('id', '>', last.id) : query).execute());
      for await (const { id, entity, project, name } of rowsOf(pages))
        yield { id, name: `${entity}/${project}/${name}` };
    },

    async *checkpoints() {
      const query = db
        .selectFrom('checkpoints')
        .innerJoin('models', 'models.id', 'checkpoints.model_id')
        .select(['checkpoints.id', 'model_id', 'entity', 'step', 'blob_prefix'])
        .orderBy('model_id')
        .orderBy('step')
        .orderBy('checkpoints.id')
        .limit(PAGE);
      const pages = paged((last: { model_id: string; step: number; id: string } | null) =>
        last === null
          ? query.execute()
          : query
              .where(sql<boolean>`(model_id, step, checkpoints.id) > (${last.model_id}, ${last.step}, ${last.id})`)
              .execute(),
      );
      for await (const row of rowsOf(pages))
        yield { id: row.id, modelId: row.model_id, entity: row.entity, step: row.step, blobPrefix: row.blob_prefix };
    },

    async *jobs() {
      const query = db
        .selectFrom('training_jobs')
        .select(['id', 'type', 'model_id', 'entity', 'key_id', 'status', 'body_blob'])
        .orderBy('id')
        .limit(PAGE);
      const pages = paged((last: { id: string } | null) => (last ? query.where('id', '>', last.id) : query).execute());
      for await (const page of pages) {
        const events = await eventsOf(page.map(({ id }) => id));
        for (const { id, type, model_id: modelId, entity, key_id: keyId, status, body_blob: bodyBlob } of page)
          yield { id, type, modelId, entity, keyId, status, bodyBlob, events: events.get(id) ?? NO_EVENTS };
      }
    },

    async *responses() {
      const query = db.selectFrom('responses').select(['id', 'entity', 'key_id', 'blob']).orderBy('id').limit(PAGE);
      const pages = paged((last: { id: string } | null) => (last ? query.where('id', '>', last.id) : query).execute());
      for await (const { key_id: keyId, ...row } of rowsOf(pages)) yield { ...row, keyId };
    },

    async *episodes() {
      const query = db.selectFrom('episodes').selectAll().orderBy('id').limit(PAGE);
      const pages = paged((last: { id: string } | null) => (last ? query.where('id', '>', last.id) : query).execute());
      for await (const page of pages) {
        const calls = await callsOf(page.map(({ id }) => id));
        for (const row of page) {
          const { count = 0, bytes = 0 } = calls.get(row.id) ?? {};
          yield inventoriedEpisode(toEpisode(row), Number(count), Number(bytes));
        }
      }
    },

    async *artifactContents() {
      const query = db.selectFrom('artifact_contents').selectAll().orderBy('blob').limit(PAGE);
      const pages = paged((last: { blob: string } | null) =>
        (last ? query.where('blob', '>', last.blob) : query).execute(),
      );
      for await (const row of rowsOf(pages)) yield toArtifactContent(row);
    },

    async *storedBlobs() {
      const query = db.selectFrom('stored_blobs').selectAll().orderBy('blob').limit(PAGE);
      const pages = paged((last: { blob: string } | null) =>
        (last ? query.where('blob', '>', last.blob) : query).execute(),
      );
      for await (const { blob, entity, key_id: keyId, size_bytes: sizeBytes } of rowsOf(pages))
        yield { blob, entity, keyId, sizeBytes };
    },
  };
}

/** Reads pages until one is not full. The query starts after the row that it is given. */
async function* paged<Row>(query: (last: Row | null) => Promise<Row[]>): AsyncGenerator<Row[]> {
  for (let last: Row | null = null; ;) {
    const page: Row[] = await query(last);
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    last = page.at(-1)!;
  }
}

async function* rowsOf<Row>(pages: AsyncIterable<Row[]>): AsyncGenerator<Row> {
  for await (const page of pages) yield* page;
}
