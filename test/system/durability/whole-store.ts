// Everything that a store contains, for comparing two of them: each row of each table, each blob with its bytes.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';

export type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Rows by table, sorted. */
export function readRows(directory: string): Rows {
  const database = new Database(join(directory, 'whetstone.db'));
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table' order by name").all() as {
      name: string;
    }[];
    return Object.fromEntries(
      tables.map(({ name }) => {
        const rows = database.prepare(`select * from ${name}`).all() as Record<string, unknown>[];
        for (const row of rows) for (const [column, value] of Object.entries(row)) row[column] = readable(value);
        return [name, rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
      }),
    );
  } finally {
    database.close();
  }
}

/** Bytes as text, which can be compared. */
const readable = (value: unknown): unknown =>
  value instanceof ArrayBuffer ? Buffer.from(value).toString('hex') : value;

/** SHA-256 by name. */
export async function readBlobs(directory: string): Promise<Map<string, string>> {
  const root = join(directory, 'blobs');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const blobs = await Promise.all(
    paths.sort().map(async (path) => {
      const digest = createHash('sha256').update(await readFile(path));
      return [path.slice(root.length + 1), digest.digest('hex')] as const;
    }),
  );
  return new Map(blobs.filter(([name]) => !name.startsWith('.')));
}

/** As after a restore: nothing is running. */
export const begun = (rows: Rows): Rows => ({
  ...rows,
  training_jobs: rows['training_jobs']!.map((job) =>
    job['status'] === 'running' ? { ...job, attempt: 0, saved_attempt: 0, worker: null, lease_until_ms: 0 } : job,
  ),
  evaluations: rows['evaluations']!.map((evaluation) =>
    evaluation['status'] === 'running' ? { ...evaluation, unsettled: 0, worker: null, lease_until_ms: 0 } : evaluation,
  ),
  responses: rows['responses']!.map((response) =>
    response['status'] === 'in_progress' ? { ...response, worker: null, lease_until_ms: 0 } : response,
  ),
  idempotency_keys: rows['idempotency_keys']!.map((key) =>
    key['response'] === null ? { ...key, held_since_ms: 0 } : key,
  ),
});
