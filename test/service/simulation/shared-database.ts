// One SQLite database in memory that several simulated servers use, each through connections of its own, as they would use Postgres: what a
// dead server had begun is rolled back, and every statement is a wait at which its server may die. Commits are durable; that SQLite and
// Postgres keep that promise is tested in test/system/durability.
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
} from 'kysely';
import { silentLog } from '#base/log';
import { withNamedFaults } from '#storage/named-faults';
import { openSqlStorage } from '#storage/sql/sql-storage';
import { createSqliteDialect } from '#storage/sql/sqlite-dialect';
import type { Storage } from '#storage/storage';
import type { Process, Scheduler } from './scheduler.ts';

/**
 * `alone`: transactions and statements come one after another, as in SQLite, where a transaction takes the write lock when it begins.
 * `shared`: as in Postgres, where a statement of another server may come between a transaction's first reads and its first write.
 */
export type Isolation = 'alone' | 'shared';

export interface SharedDatabase {
  /** For the process that calls it, until it dies. */
  connect(scheduler: Scheduler, isolation: Isolation): Promise<Storage>;
  /** Reads committed rows, at once. */
  rows<T>(sql: string, ...parameters: unknown[]): Promise<T[]>;
  /** Called after every commit that changed jobs, events or checkpoints. */
  onCommit: () => Promise<void>;
  /** Empties all tables. */
  clear(): Promise<void>;
}

interface Lock {
  readonly take: (process: Process, holder: object) => Promise<void>;
  readonly leave: (holder: object) => void;
}

/** First come, first served; the dead are passed over. */
function createLock(): Lock {
  let current: object | null = null;
  let waiting: { readonly process: Process; readonly holder: object; readonly enter: () => void }[] = [];
  return {
    async take(process, holder) {
      if (!process.isAlive) return new Promise(() => {}); // what was under way when it died
      if (current === holder) return;
      if (current !== null) return new Promise((enter) => waiting.push({ process, holder, enter }));
      current = holder;
    },
    leave(holder) {
      if (current !== holder) return;
      waiting = waiting.filter(({ process }) => process.isAlive);
      const next = waiting.shift();
      current = next?.holder ?? null;
      next?.enter();
    },
  };
}

const isChange = (sql: string) => !/^\s*select/i.test(sql);
/** What the audit looks at. */
const AUDITED = /training_jobs|training_events|checkpoints/;
const hasChanged = (sql: string, { rows, numAffectedRows = 0n }: QueryResult<unknown>) =>
  AUDITED.test(sql) && (rows.length > 0 || numAffectedRows > 0n);

export async function openSharedDatabase(): Promise<SharedDatabase> {
  const dialect = createSqliteDialect(':memory:');
  const driver = dialect.kysely.createDriver();
  await driver.init();
  const inner = await driver.acquireConnection();
  await driver.releaseConnection(inner); // it has one connection, which lives as long as the database
  const run = (text: string, parameters: readonly unknown[] = []) =>
    inner.executeQuery(CompiledQuery.raw(text, [...parameters]));

  const migrating = await openSqlStorage(
    { ...dialect, kysely: dialectOver(dialect.kysely, () => plainDriver(inner)) },
    'simulated',
    silentLog,
  );
  void migrating; // its schema stays; it is not closed, because its connection is the database
  const tables = (await run(`select name from sqlite_master where type = 'table' and name <> 'schema_version'`))
    .rows as {
    name: string;
  }[];

  const database: SharedDatabase = {
    onCommit: async () => {},
    rows: async <T>(text: string, ...parameters: unknown[]) => (await run(text, parameters)).rows as T[],
    async clear() {
      await run('pragma foreign_keys = OFF');
      for (const { name } of tables) await run(`delete from "${name}"`);
      await run('pragma foreign_keys = ON');
    },
    async connect(scheduler, isolation) {
      const process = scheduler.here();
      const simulated = {
        ...dialect,
        kysely: dialectOver(dialect.kysely, () => serverDriver(scheduler, process, isolation)),
      };
      return withNamedFaults(await openSqlStorage(simulated, 'simulated', silentLog));
    },
  };

  /** One transaction at a time in all servers: SQLite's write lock, or the advisory lock of our Postgres dialect. */
  const transactions = createLock();
  /** Held while a transaction has written and not yet ended. */
  const writing = createLock();

  function serverDriver(scheduler: Scheduler, process: Process, isolation: Isolation): Driver {
    interface Connection extends DatabaseConnection {
      transaction: 'none' | 'lazy' | 'begun' | 'changed';
    }

    async function begin(connection: Connection): Promise<void> {
      await writing.take(process, connection);
      await run('begin immediate');
      connection.transaction = 'begun';
    }

    async function executeQuery<R>(this: Connection, query: CompiledQuery): Promise<QueryResult<R>> {
      const change = isChange(query.sql);
      if (this.transaction === 'lazy' && change) await begin(this);
      else if (this.transaction === 'none' || this.transaction === 'lazy') await writing.take(process, this);
      try {
        return await scheduler.point(`sql ${query.sql.slice(0, 60)}`, async () => {
          const result = await inner.executeQuery<R>(query);
          if (change && hasChanged(query.sql, result)) {
            if (this.transaction === 'begun') this.transaction = 'changed';
            if (this.transaction === 'none') await database.onCommit();
          }
          return result;
        });
      } finally {
        if (this.transaction === 'none' || this.transaction === 'lazy') writing.leave(this);
      }
    }

    async function end(connection: Connection, how: 'commit' | 'rollback'): Promise<void> {
      if (connection.transaction === 'begun' || connection.transaction === 'changed') {
        await scheduler.point(how, async () => {
          const changed = connection.transaction === 'changed';
          const ended = run(how);
          connection.transaction = 'none'; // at once: a process that dies now has nothing to roll back
          await ended;
          if (how === 'commit' && changed) await database.onCommit();
        });
      }
      connection.transaction = 'none';
      writing.leave(connection);
      transactions.leave(connection);
    }

    const open = new Set<Connection>();
    process.atDeath.push(() => {
      for (const connection of open) {
        // Synchronous up to the statement: nothing comes between the death and the rollback.
        if (connection.transaction === 'begun' || connection.transaction === 'changed') void run('rollback');
        connection.transaction = 'none';
        writing.leave(connection);
        transactions.leave(connection);
      }
    });

    return {
      init: async () => {},
      destroy: async () => {},
      async acquireConnection() {
        const connection: Connection = { transaction: 'none', executeQuery, streamQuery: neverStreams };
        open.add(connection);
        return connection;
      },
      async releaseConnection(connection) {
        open.delete(connection as Connection);
      },
      async beginTransaction(connection) {
        await transactions.take(process, connection);
        (connection as Connection).transaction = 'lazy';
        if (isolation === 'alone') await begin(connection as Connection);
      },
      commitTransaction: (connection) => end(connection as Connection, 'commit'),
      rollbackTransaction: (connection) => end(connection as Connection, 'rollback'),
    };
  }

  return database;
}

const neverStreams = () => {
  throw new Error('the simulated database does not stream');
};

const dialectOver = (dialect: Dialect, createDriver: () => Driver): Dialect => ({
  createDriver,
  createAdapter: () => dialect.createAdapter(),
  createQueryCompiler: () => dialect.createQueryCompiler(),
  createIntrospector: (db: Kysely<unknown>) => dialect.createIntrospector(db),
});

/** Statements go through as they are. */
const plainDriver = (connection: DatabaseConnection): Driver => {
  const say = (text: string) => async () => void (await connection.executeQuery(CompiledQuery.raw(text)));
  return {
    init: async () => {},
    destroy: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: say('begin immediate'),
    commitTransaction: say('commit'),
    rollbackTransaction: say('rollback'),
  };
};
