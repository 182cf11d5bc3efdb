import { expect, test } from 'vitest';
import { inColumns, inColumnsWithin } from './columns.ts';

const JOBS = [
  ['ID', 'STATUS', 'LOSS', 'CREATED', 'WAITING FOR'],
  ['4f1c0d0a6a0e', 'succeeded', '-', '5 min ago', ''],
  ['b0e4b6a1b3f0', 'queued', '-', 'just now', 'a trainer'],
];

test('where there is room, every column stands in one line', () => {
  const lines = [
    'ID            STATUS     LOSS  CREATED    WAITING FOR',
    '4f1c0d0a6a0e  succeeded  -     5 min ago',
    'b0e4b6a1b3f0  queued     -     just now   a trainer',
  ];
  expect(inColumns(JOBS)).toEqual(lines);
  expect(inColumnsWithin(53, JOBS)).toEqual(lines);
});

test('columns without content give way first', () => {
  expect(inColumnsWithin(52, JOBS)).toEqual([
    'ID            STATUS     CREATED    WAITING FOR',
    '4f1c0d0a6a0e  succeeded  5 min ago',
    'b0e4b6a1b3f0  queued     just now   a trainer',
  ]);
});

test('then the columns that have no room go on under their row, and no cell is cut', () => {
  expect(inColumnsWithin(24, JOBS)).toEqual([
    'ID            STATUS',
    '  CREATED    WAITING FOR',
    '4f1c0d0a6a0e  succeeded',
    '  5 min ago',
    'b0e4b6a1b3f0  queued',
    '  just now   a trainer',
  ]);
  expect(
    inColumnsWithin(1, [
      ['ID', 'NAME'],
      ['job-1', 'a'],
    ]),
  ).toEqual(['ID', '  NAME', 'job-1', '  a']);
});

test('a column that is wider than the terminal has a line of its own', () => {
  const rows = [
    ['ID', 'REASON', 'N'],
    ['1', 'a long reason', '2'],
  ];
  expect(inColumnsWithin(6, rows)).toEqual(['ID', '  REASON', '  N', '1', '  a long reason', '  2']);
});

test('letters that take two columns, and marks that take none, leave the columns straight', () => {
  const rows = [
    ['MODEL', 'STEP'],
    ['模型/モデル', '1'],
    ['e\u0301te\u0301/🦜', '2'],
    ['plain/name', '3'],
  ];
  expect(inColumns(rows)).toEqual([
    'MODEL        STEP',
    '模型/モデル  1',
    'e\u0301te\u0301/🦜       2',
    'plain/name   3',
  ]);
});
