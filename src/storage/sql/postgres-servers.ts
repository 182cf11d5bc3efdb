// Detects whether servers are using a Postgres database, by the name of their connections. Training servers always keep one,
// because they look for jobs every second; a server that only answers requests has none after ten seconds without requests.
import pg from 'pg';
import { COMMAND_NAME, SERVER_NAME } from './postgres-dialect.ts';

const CONNECT_MS_MAX = 5_000;

export async function countServerConnections(url: string): Promise<number> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    application_name: COMMAND_NAME,
  });
  client.on('error', () => {}); // the statement reports it too
  try {
    await client.connect();
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = $1',
      [SERVER_NAME],
    );
    return rows[0]!.count;
  } finally {
    await client.end();
  }
}
