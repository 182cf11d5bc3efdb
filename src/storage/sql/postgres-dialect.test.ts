import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Kysely, sql } from 'kysely';
import { expect, test } from 'vitest';
import { storageFault } from '#domain/storage-fault';
import { createPostgresDialect } from './postgres-dialect.ts';

test('a statement fails when the database is gone without a word', async () => {
  const ready = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]); // signed in, and ready
  const database = createServer((socket) => socket.once('data', () => socket.write(ready)).on('error', () => {}));
  database.listen(0, '127.0.0.1');
  await once(database, 'listening');
  const url = `postgres://me@127.0.0.1:${(database.address() as AddressInfo).port}/db`;
  const db = new Kysely({ dialect: createPostgresDialect(url, { limits: { silenceMs: 50 } }).kysely });
  const error: unknown = await sql`select 1`.execute(db).catch((fault: unknown) => fault);
  expect(error).toMatchObject({ message: 'The database did not answer for 50 ms.' });
  expect(storageFault(error)).toMatchObject({ code: 'storage_unavailable' });
  await db.destroy();
  database.close();
});

/** Of the protocol: a letter, the length with itself, the content. */
function message(kind: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(kind), length, content]);
}
