import { expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import type { Run } from '#domain/run';
import type { RunStore } from '#storage/run-store';
import type { Storage } from '#storage/storage';
import { aCaller } from '../../../test/support/a-caller.ts';
import { createRuns } from './runs.ts';

const caller = aCaller();
const name = { entity: caller.entity, project: 'p', name: 'r' };

function runsOver(known: boolean) {
  const append = vi.fn<RunStore['append']>(async () => ({ id: 'id' }) as Run);
  const store: Pick<RunStore, 'find' | 'append'> = { find: async () => (known ? ({ id: 'id' } as Run) : null), append };
  const runs = createRuns({
    storage: { runs: store } as unknown as Storage,
    limits: { storing: (_, work) => work({ payer: {} } as Parameters<typeof work>[0]) },
    clock: { now: () => 0 },
    log: silentLog,
  });
  return { append, runs };
}

/** `{"l3k0":0,…}` with so many keys, of which no other line has any. */
const wideLine = (line: number, keys: number) =>
  `{${Array.from({ length: keys }, (_, i) => `"l${line}k${i}":0`).join(',')}}`;

test('the lines of a request have one budget of keys and values, and the documents beside them have no other', async () => {
  const { append, runs } = runsOver(true);
  const wide = Array.from({ length: 7 }, (_, line) => wideLine(line, 8_000));
  const log = (lines: readonly string[], change = {}) => runs.append(caller, name, { offset: 0, lines, change });
  await log(wide.slice(0, 6));
  expect(append).toHaveBeenCalledTimes(1);
  await expect(log(wide)).rejects.toThrow('more than 50000 different keys. Log less at once');
  await expect(log(wide.slice(0, 6), { summary: wideLine(9, 8_000) })).rejects.toThrow('50000 different keys');
  await expect(log(Array.from({ length: 40 }, () => `{"a":[${'0,'.repeat(45_000)}0]}`))).rejects.toThrow(
    '1500000 values',
  );
  expect(append).toHaveBeenCalledTimes(1);
});

test('other requests are served between the lines of a request', async () => {
  const { append, runs } = runsOver(true);
  const lines = Array.from({ length: 60 }, () => `{"a":"${'\\"'.repeat(40_000)}","b":[${'0,'.repeat(9_000)}0]}`);
  let turns = 0;
  let isOver = false;
  const count = () => void (isOver || (turns++, setImmediate(count)));
  setImmediate(count);
  await runs.append(caller, name, { offset: 0, lines, change: {} });
  isOver = true;
  expect(append).toHaveBeenCalledOnce();
  expect(turns).toBeGreaterThan(2);
});

test('lines of a run that does not exist are not read', async () => {
  const { runs } = runsOver(false);
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  await expect(runs.append(caller, name, { offset: 0, lines: ['{"a":1}'], change: {} })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(parse).not.toHaveBeenCalled();
});

test('a line that is too long loses its longest values, which say so, and no other line does', async () => {
  const { append, runs } = runsOver(true);
  const log = (lines: readonly string[]) => runs.append(caller, name, { offset: 7, lines, change: {} });
  const long = `{"_step":1,"loss":NaN,"text":"${'x'.repeat(150_000)}","short":"${'y'.repeat(60_000)}"}`;
  await log(['{"loss":NaN}', long]);
  const [, { lines }] = append.mock.lastCall!;
  expect(lines[0]).toBe('{"loss":NaN}');
  expect(JSON.parse(lines[1]!)).toEqual({
    _step: 1,
    loss: 'NaN',
    text: 'not stored: 150002 characters of JSON',
    short: 'y'.repeat(60_000),
  });
  await expect(log([wideLine(0, 12_000)])).rejects.toThrow('Line 7 of the history has 144891 characters');
  await expect(log([`{"a":"${'x'.repeat(500_000)}"}`])).rejects.toThrow('more than 100000');
});
