// Artifacts. Whether bytes are there, and who refers to them, is decided in the transaction that makes or removes a version.
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely';
import type { ArtifactName, ArtifactVersion } from '#domain/artifact';
import type { ArtifactStore, NewArtifact } from '../artifact-store.ts';
import { toListing } from './listing.ts';
import { toArtifactContent, type ArtifactTable, type Tables } from './rows.ts';

type Db = Kysely<Tables> | Transaction<Tables>;

export function createArtifactStore(db: Kysely<Tables>): ArtifactStore {
  const findContent = async (within: Db, entity: string, sha256: string) => {
    const row = await within
      .selectFrom('artifact_contents')
      .selectAll()
      .where('entity', '=', entity)
      .where('sha256', '=', sha256)
      .executeTakeFirst();
    return row ? toArtifactContent(row) : null;
  };

  const touch = (within: Db, entity: string, sha256: string, usedAtMs: number) =>
    within
      .updateTable('artifact_contents')
      .set({ used_at_ms: usedAtMs })
      .where('entity', '=', entity)
      .where('sha256', '=', sha256)
      .where('used_at_ms', '<', usedAtMs)
      .execute();

  return {
    addContent(content, usedAtMs) {
      return db.transaction().execute(async (tx) => {
        const { entity, sha256, sizeBytes, blob } = content;
        const known = await findContent(tx, entity, sha256);
        if (known) {
          await touch(tx, entity, sha256, usedAtMs);
          return known;
        }
        await tx
          .insertInto('artifact_contents')
          .values({ entity, sha256, size_bytes: sizeBytes, blob, used_at_ms: usedAtMs })
          .execute();
        return content;
      });
    },

    touchContent(entity, sha256, usedAtMs) {
      return db.transaction().execute(async (tx) => {
        await touch(tx, entity, sha256, usedAtMs);
        return findContent(tx, entity, sha256);
      });
    },

    findContent: (entity, sha256) => findContent(db, entity, sha256),

    async removeUnused(usedBeforeMs, only) {
      if (only?.sha256.length === 0) return [];
      return db.transaction().execute(async (tx) => {
        let query = tx
          .deleteFrom('artifact_contents')
          .where('used_at_ms', '<', usedBeforeMs)
          .where((where) =>
            where.not(
              where.exists(
                where
                  .selectFrom('artifact_files')
                  .select('path')
                  .whereRef('artifact_files.entity', '=', 'artifact_contents.entity')
                  .whereRef('artifact_files.sha256', '=', 'artifact_contents.sha256'),
              ),
            ),
          )
          .returning('blob');
        if (only) query = query.where('entity', '=', only.entity).where('sha256', 'in', only.sha256);
        const unused = await query.execute();
        return unused.map(({ blob }) => blob).sort();
      });
    },

    create(artifact, aliases) {
      return db.transaction().execute(async (tx) => {
        const latest = await latestOf(tx, artifact);
        if (latest && (latest.digest === artifact.digest || latest.id === artifact.id)) {
          await giveAliases(tx, latest.id, artifact, aliases);
          return { outcome: 'exists' as const, artifact: await complete(tx, latest) };
        }
        const missing: string[] = [];
        for (const { sha256 } of artifact.files) {
          if (!(await findContent(tx, artifact.entity, sha256))) missing.push(sha256);
        }
        if (missing.length > 0) return { outcome: 'missing' as const, sha256: [...new Set(missing)].sort() };
        const row = await insert(tx, artifact, (latest?.version ?? -1) + 1);
        await giveAliases(tx, artifact.id, artifact, aliases);
        return { outcome: 'created' as const, artifact: await complete(tx, row) };
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

    exists: async (name) => (await latestOf(db, name)) !== undefined,

    async list({ entity, project, name, type }, { after, limit }) {
      let query = db.selectFrom('artifacts').selectAll().where('entity', '=', entity);
      if (project !== undefined) query = query.where('project', '=', project);
      if (name !== undefined) query = query.where('name', '=', name);
      if (type !== undefined) query = query.where('type', '=', type);
      // An unknown cursor compares with null, which is never true: an empty page.
      if (after !== null)
        query = query.where('ordinal', '>', sql<number>`(select ordinal from artifacts where id = ${after})`);
      const rows = await query
        .orderBy('ordinal')
        .limit(limit + 1)
        .execute();
      return toListing(await Promise.all(rows.map((row) => complete(db, row))), limit, (artifact) => artifact);
    },

    setAliases(id, aliases) {
      return db.transaction().execute(async (tx) => {
        const row = await tx.selectFrom('artifacts').selectAll().where('id', '=', id).executeTakeFirst();
        if (!row) return false;
        await tx.deleteFrom('artifact_aliases').where('artifact_id', '=', id).execute();
        await giveAliases(tx, id, row, aliases);
        return true;
      });
    },

    async delete(id) {
      const { numDeletedRows } = await db.deleteFrom('artifacts').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
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
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  for (const { path, sha256, sizeBytes } of files) {
    await tx
      .insertInto('artifact_files')
      .values({ artifact_id: id, path, entity, sha256, size_bytes: sizeBytes })
      .execute();
  }
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

async function complete(db: Db, row: Selectable<ArtifactTable>): Promise<ArtifactVersion> {
  const aliases = await db.selectFrom('artifact_aliases').select('alias').where('artifact_id', '=', row.id).execute();
  const files = await db
    .selectFrom('artifact_files')
    .select(['path', 'sha256', 'size_bytes'])
    .where('artifact_id', '=', row.id)
    .execute();
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
