// Artifacts. The transaction that creates or removes a version decides whether its bytes exist, and which versions refer to them.
import { setImmediate } from 'node:timers/promises';
import { sql, type Kysely, type RawBuilder, type Selectable, type Transaction } from 'kysely';
import { rowBytes, sizeOf, versionWeight, type ArtifactName, type ArtifactVersion } from '#domain/artifact';
import { artifactRows } from '#domain/blob-names';
import type { Payer } from '../account-store.ts';
import type { ArtifactStore, CreateOutcome, NewArtifact } from '../artifact-store.ts';
import { chargeWithin } from './accounts.ts';
import { createCollectionStore } from './artifact-collections.ts';
import { createDraftStore } from './artifact-drafts.ts';
import { countRows, listPage } from './listing.ts';
import { toArtifactContent, type ArtifactTable } from './artifact-rows.ts';
import type { Tables } from './rows.ts';
import { deleteRows, deleteRowsOf, inPieces, inside, PIECE } from './pieces.ts';
import { ofEntity, orderOf, transactionAlone, transactionOf, transactionOfOwner } from './transaction.ts';

type Db = Kysely<Tables> | Transaction<Tables>;

export function createArtifactStore(db: Kysely<Tables>): ArtifactStore {
  const findContents = (within: Db, entity: string, hashes: readonly string[], by: 'sha256' | 'md5' = 'sha256') =>
    inPieces(hashes, async (some) => {
      const query = within.selectFrom('artifact_contents').selectAll().where('entity', '=', entity);
      return (await query.where(by, 'in', some).execute()).map(toArtifactContent);
    });

  /** False if it is gone. */
  const ofArtifact = (id: string, work: (tx: Transaction<Tables>) => Promise<boolean>): Promise<boolean> =>
    transactionOfOwner(db, { table: 'artifacts', id }, false, work);

  const touch = (within: Db, entity: string, sha256: readonly string[], usedAtMs: number) =>
    inPieces(sha256, (some) =>
      within
        .updateTable('artifact_contents')
        .set({ used_at_ms: usedAtMs })
        .where('entity', '=', entity)
        .where('sha256', 'in', some)
        .where('used_at_ms', '<', usedAtMs)
        .execute(),
    );

  return {
    addContent(content, payer, usedAtMs) {
      return transactionOf(db, ofEntity(content.entity), async (tx) => {
        const { entity, sha256, md5, sizeBytes, blob } = content;
        const [known] = await findContents(tx, entity, [sha256]);
        if (known) {
          await touch(tx, entity, [sha256], usedAtMs);
          return known;
        }
        if (!(await chargeWithin(tx, content, payer))) return 'over_limit';
        await tx
          .insertInto('artifact_contents')
          .values({ entity, sha256, md5, size_bytes: sizeBytes, blob, used_at_ms: usedAtMs })
          .execute();
        return content;
      });
    },

    touchContents(entity, sha256, usedAtMs) {
      return transactionOf(db, ofEntity(entity), async (tx) => {
        await touch(tx, entity, sha256, usedAtMs);
        return findContents(tx, entity, sha256);
      });
    },

    findContent: async (entity, sha256) => (await findContents(db, entity, [sha256]))[0] ?? null,

    findContents: (entity, by, hashes) => findContents(db, entity, hashes, by),

    async setMd5(entity, sha256, md5) {
      await db
        .updateTable('artifact_contents')
        .set({ md5 })
        .where('entity', '=', entity)
        .where('sha256', '=', sha256)
        .execute();
    },

    async removeUnused(usedBeforeMs, only) {
      const isUnused = sql`used_at_ms < ${usedBeforeMs} and not exists (
        select 1 from artifact_files as files
         where files.entity = artifact_contents.entity and files.sha256 = artifact_contents.sha256)`;
      const remove = (which: RawBuilder<unknown>, within: <R>(work: (tx: Db) => Promise<R>) => Promise<R>) =>
        deleteRows<string>(within, 'artifact_contents', which, 'blob');
      if (!only) return (await remove(isUnused, (work) => transactionAlone(db, work))).sort();
      const { entity, sha256 } = only;
      const removed = await inPieces(sha256, (some) =>
        remove(sql`${isUnused} and entity = ${entity} and sha256 in (${sql.join(some)})`, (work) =>
          transactionOf(db, ofEntity(entity), work),
        ),
      );
      return removed.sort();
    },

    create(artifact, aliases, payer) {
      return allOrNothing(db, artifact.entity, async (tx) => {
        const latest = await latestOf(tx, artifact);
        if (latest && (latest.digest === artifact.digest || latest.id === artifact.id)) {
          const before = await complete(tx, latest);
          await giveAliases(tx, latest.id, artifact, aliases);
          const after = { ...before, aliases: [...new Set([...before.aliases, ...aliases])].sort() };
          if (after.aliases.length > before.aliases.length) await chargeRows(tx, after, payer);
          return { outcome: 'exists' as const, artifact: after };
        }
        const needed = [...new Set(artifact.files.map(({ sha256 }) => sha256))].sort();
        const stored = new Set((await findContents(tx, artifact.entity, needed)).map(({ sha256 }) => sha256));
        const missing = needed.filter((sha256) => !stored.has(sha256));
        if (missing.length > 0) return { outcome: 'missing' as const, sha256: missing };
        const row = await insert(tx, artifact, (latest?.version ?? -1) + 1);
        await giveAliases(tx, artifact.id, artifact, aliases);
        const made = await complete(tx, row);
        await chargeRows(tx, made, payer);
        return { outcome: 'created' as const, artifact: made };
      });
    },

    async find(name, selector) {
      let query = named(db, name);
      if (selector === null) query = query.orderBy('version', 'desc').limit(1);
      else if ('version' in selector) query = query.where('version', '=', selector.version);
      else {
        query = query.where('id', '=', (where) =>
          where
            .selectFrom('artifact_aliases')
            .select('artifact_id')
            .where('entity', '=', name.entity)
            .where('project', '=', name.project)
            .where('name', '=', name.name)
            .where('alias', '=', selector.alias),
        );
      }
      const row = await query.executeTakeFirst();
      return row ? complete(db, row) : null;
    },

    async findById(id) {
      const row = await db.selectFrom('artifacts').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? complete(db, row) : null;
    },

    count: ({ entity, project, name, type }, most) =>
      countRows(
        db,
        { table: 'artifacts', of: { entity }, where: { project, name, type }, by: countedBy({ project, name, type }) },
        most,
      ),

    exists: async (name) => (await latestOf(db, name)) !== undefined,

    list: ({ entity, project, name, type }, page, order = 'asc', sort = 'created') =>
      listPage(
        db,
        {
          table: 'artifacts',
          of: { entity },
          where: { project, name, type },
          by: sort === 'created' && project !== undefined && name !== undefined ? ORDERS.project : ORDERS[sort],
          order,
          heavy: ['metadata'],
        },
        page,
        (row) => complete(db, row),
        versionWeight,
      ),

    setAliases(id, aliases) {
      return ofArtifact(id, async (tx) => {
        const row = await tx.selectFrom('artifacts').selectAll().where('id', '=', id).executeTakeFirst();
        if (!row) return false;
        await tx.deleteFrom('artifact_aliases').where('artifact_id', '=', id).execute();
        await giveAliases(tx, id, row, aliases);
        return true;
      });
    },

    async setMetadata(id, metadata, digest) {
      const { numUpdatedRows } = await db
        .updateTable('artifacts')
        .set({ metadata: JSON.stringify(metadata), digest })
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    ...createCollectionStore(db),
    ...createDraftStore(db),

    delete(id) {
      return ofArtifact(id, async (tx) => {
        await tx.deleteFrom('stored_blobs').where('blob', '=', artifactRows(id)).execute();
        await deleteRowsOf(inside(tx), 'artifact_files', [id]);
        const { numDeletedRows } = await tx.deleteFrom('artifacts').where('id', '=', id).executeTakeFirst();
        return numDeletedRows > 0n;
      });
    },
  };
}

/** Each is the order of an index. Later versions of one name are newer, so that the order of a project is that of creation for one name. */
const ORDERS = {
  created: ['entity', 'ordinal'],
  project: ['entity', 'project', 'name', 'version'],
  name: ['entity', 'name', 'version', 'ordinal'],
  type: ['entity', 'type', 'ordinal'],
  files: ['entity', 'file_count', 'ordinal'],
  size: ['entity', 'size_bytes', 'ordinal'],
} as const;

/** The index with the fewest other rows. */
function countedBy({ project, name, type }: { readonly [N in 'project' | 'name' | 'type']: string | undefined }) {
  if (project !== undefined) return ORDERS.project;
  if (name !== undefined) return ORDERS.name;
  return type === undefined ? ORDERS.created : ORDERS.type;
}

class OverLimit extends Error {}

/** If a limit is exceeded, earlier changes are rolled back. */
async function allOrNothing(
  db: Kysely<Tables>,
  entity: string,
  work: (tx: Transaction<Tables>) => Promise<CreateOutcome>,
): Promise<CreateOutcome> {
  try {
    return await transactionOf(db, [ofEntity(entity), orderOf('artifacts')], work);
  } catch (error) {
    if (error instanceof OverLimit) return { outcome: 'over_limit' };
    throw error;
  }
}

async function chargeRows(tx: Transaction<Tables>, artifact: ArtifactVersion, payer: Payer): Promise<void> {
  const { id, entity, aliases } = artifact;
  const rows = { blob: artifactRows(id), entity, sizeBytes: rowBytes(artifact, aliases.length) };
  if (!(await chargeWithin(tx, rows, payer))) throw new OverLimit();
}

const named = (db: Db, { entity, project, name }: ArtifactName) =>
  db
    .selectFrom('artifacts')
    .selectAll()
    .where('entity', '=', entity)
    .where('project', '=', project)
    .where('name', '=', name);

const latestOf = (db: Db, name: ArtifactName) => named(db, name).orderBy('version', 'desc').limit(1).executeTakeFirst();

async function insert(tx: Db, artifact: NewArtifact, version: number): Promise<Selectable<ArtifactTable>> {
  const { id, entity, project, name, type, digest, createdAtMs, files } = artifact;
  const row = await tx
    .insertInto('artifacts')
    .values({
      id,
      ordinal: sql<number>`(select coalesce(max(ordinal), 0) + 1 from artifacts)`,
      entity,
      project,
      name,
      version,
      type,
      metadata: JSON.stringify(artifact.metadata),
      digest,
      created_at_ms: createdAtMs,
      file_count: files.length,
      size_bytes: sizeOf(artifact),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await inPieces(files, (some) =>
    tx
      .insertInto('artifact_files')
      .values(
        some.map(({ path, sha256, sizeBytes }) => ({ artifact_id: id, path, entity, sha256, size_bytes: sizeBytes })),
      )
      .execute(),
  );
  return row;
}

async function giveAliases(
  tx: Db,
  id: string,
  { entity, project, name }: ArtifactName,
  aliases: readonly string[],
): Promise<void> {
  for (const alias of aliases) {
    await tx
      .insertInto('artifact_aliases')
      .values({ entity, project, name, alias, artifact_id: id })
      .onConflict((conflict) =>
        conflict.columns(['entity', 'project', 'name', 'alias']).doUpdateSet({ artifact_id: id }),
      )
      .execute();
  }
}

/** Other requests are answered between the pieces. If the version is deleted meanwhile, it has no files. */
async function filesOf(db: Db, id: string) {
  const all = db.selectFrom('artifact_files').select(['path', 'sha256', 'size_bytes']).where('artifact_id', '=', id);
  const files: Awaited<ReturnType<typeof all.execute>> = [];
  for (let last: string | null = null; ; await setImmediate()) {
    const rest: typeof all = last === null ? all : all.where('path', '>', last);
    const some: typeof files = await rest.orderBy('path').limit(PIECE).execute();
    files.push(...some);
    if (some.length < PIECE) break;
    last = some.at(-1)!.path;
  }
  if (files.length < PIECE) return files;
  const row = await db.selectFrom('artifacts').select('id').where('id', '=', id).executeTakeFirst();
  return row ? files : [];
}

async function complete(db: Db, row: Selectable<ArtifactTable>): Promise<ArtifactVersion> {
  const aliases = await db.selectFrom('artifact_aliases').select('alias').where('artifact_id', '=', row.id).execute();
  const files = await filesOf(db, row.id);
  return {
    id: row.id,
    entity: row.entity,
    project: row.project,
    name: row.name,
    version: row.version,
    type: row.type,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    digest: row.digest,
    createdAtMs: row.created_at_ms,
    aliases: aliases.map(({ alias }) => alias).sort(),
    files: files
      .map(({ path, sha256, size_bytes: sizeBytes }) => ({ path, sizeBytes, sha256 }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}
