import { expect, test } from 'vitest';
import { tableOf } from './chart-files.ts';

const line = (label: string, values: (number | null)[], isFaint = false) => ({ label, values, color: 1, isFaint });

test('a table has the places in sight, measured beside smoothed values, and no text that a spreadsheet would compute', () => {
  const lines = [line('=a', [1, 3, 5], true), line('=a', [1, 2, null]), line('b, "c"', [null, null, 4])];
  expect(tableOf({ axis: 'time', x: [0, 10, 20], lines, range: { min: 5, max: 20 } })).toBe(
    `seconds,'=a,"'=a, smoothed","b, ""c"", smoothed"\r\n10,3,2,\r\n20,5,,4\r\n`,
  );
  expect(tableOf({ axis: 'step', x: [1, 2], lines: [line('m', [0.5, null])], range: null })).toBe(
    'step,m\r\n1,0.5\r\n',
  );
});
