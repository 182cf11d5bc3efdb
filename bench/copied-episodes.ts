// Multiplies the episodes of a stopped server's database, with their calls, so that lists can be measured at sizes that would take hours to
// record. Knows the two tables; used by episodes.ts.
import { Kysely, sql } from 'kysely';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';

const idOf = (column: string) => sql`printf('%08x', i) || substr(${sql.ref(column)}, 9)`;

/** Returns how many times each episode is there afterwards. */
export async function copyEpisodes(path: string, times: number): Promise<number> {
  const db = new Kysely<unknown>({ dialect: createSqliteDialect(path).kysely });
  const numbers = sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(times - 1)}) select i from n) as n`;
  const columnsOf = async (table: string, changed: Readonly<Record<string, ReturnType<typeof sql>>>) => {
    const { rows } = await sql<{ name: string }>`select name from pragma_table_info(${table})`.execute(db);
    return {
      names: sql.join(rows.map(({ name }) => sql.ref(name))),
      values: sql.join(rows.map(({ name }) => changed[name] ?? sql.ref(`o.${name}`))),
    };
  };
  if (times > 1) {
    await sql`create temp table originals as select * from episodes`.execute(db);
    await sql`create temp table original_calls as select * from episode_calls`.execute(db);
    const episodes = await columnsOf('episodes', {
      id: idOf('o.id'),
      name: sql`o.name || '-' || i`,
      ordinal: sql`o.ordinal + i * (select max(ordinal) from originals)`,
    });
    const calls = await columnsOf('episode_calls', {
      id: idOf('o.id'),
      episode_id: idOf('o.episode_id'),
      parent_id: sql`case when o.parent_id is null then null else ${idOf('o.parent_id')} end`,
    });
    await sql`insert into episodes (${episodes.names}) select ${episodes.values} from originals o, ${numbers}`.execute(
      db,
    );
    await sql`insert into episode_calls (${calls.names}) select ${calls.values} from original_calls o, ${numbers}`.execute(
      db,
    );
  }
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  await db.destroy();
  return times;
}
