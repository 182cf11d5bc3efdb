import Database from 'libsql';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withPreparedStatements } from './prepared-statements.ts';

function open() {
  const database = new Database(':memory:');
  database.exec('create table t (id integer primary key, text, other)');
  const prepared = vi.spyOn(database, 'prepare');
  const statements = withPreparedStatements(database);
  onTestFinished(() => statements.close());
  return {
    prepared,
    all: (text: string, ...values: unknown[]) => statements.prepare(text).all(values),
    run: (text: string, ...values: unknown[]) => statements.prepare(text).run(values),
    iterate: (text: string) => statements.prepare(text).iterate([]),
  };
}

const INSERT = 'insert into t (id, text) values (?, ?)';

test('a statement is prepared once, and takes new values each time', () => {
  const { all, run, prepared } = open();
  for (let id = 0; id < 20; id++) run(INSERT, id, `text ${id}`);
  expect(prepared).toHaveBeenCalledTimes(1);
  for (let id = 0; id < 20; id++) expect(all('select text from t where id = ?', id)).toEqual([{ text: `text ${id}` }]);
  expect(prepared).toHaveBeenCalledTimes(2);
});

test('a statement that begins with a named query is kept, and so are those before it', () => {
  const { all, run, prepared } = open();
  const named = 'with few as materialized (select id from t limit ?) delete from t where id in (select id from few)';
  for (let id = 0; id < 20; id++) {
    run(INSERT, id, 'x');
    run(named, 1);
  }
  expect(prepared).toHaveBeenCalledTimes(2);
  expect(all('select count(*) as count from t')).toEqual([{ count: 0 }]);
});

test('a statement that failed is prepared again', () => {
  const { run, prepared } = open();
  run(INSERT, 1, 'one');
  expect(() => run(INSERT, 1, 'again')).toThrow('UNIQUE');
  run(INSERT, 2, 'two');
  expect(prepared).toHaveBeenCalledTimes(2);
});

test.each([['text', 'x'.repeat(20_000)] as const, ['bytes', Buffer.alloc(20_000)] as const])(
  'a statement does not keep large %s',
  (_, value) => {
    const { run, prepared } = open();
    run(INSERT, 1, value);
    run(INSERT, 2, 'small');
    run(INSERT, 3, 'small');
    expect(prepared).toHaveBeenCalledTimes(2);
  },
);

test('after a change of the table, a statement reads the new columns', () => {
  const { all, run } = open();
  run(INSERT, 1, 'one');
  expect(all('select * from t')).toEqual([{ id: 1, text: 'one', other: null }]);
  run('alter table t add column added');
  expect(all('select * from t')).toEqual([{ id: 1, text: 'one', other: null, added: null }]);
});

test('rows that are being read do not end where the same statement is run', () => {
  const { all, run, iterate } = open();
  for (let id = 0; id < 300; id++) run(INSERT, id, 'x'); // libsql reads a hundred at a time
  const ids: unknown[] = [];
  for (const row of iterate('select id from t')) {
    if (ids.length % 50 === 0) expect(all('select id from t')).toHaveLength(300);
    ids.push(row);
  }
  expect(ids).toHaveLength(300);
});
