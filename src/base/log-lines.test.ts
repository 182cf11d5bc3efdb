import { expect, test } from 'vitest';
import { logLineForPeople } from './log-lines.ts';

test('an entry of the log is one line that a person reads', () => {
  const line = JSON.stringify({ level: 40, time: 0, model: 'a/b', reason: 'no room', tries: 2, event: 'job.waiting' });
  expect(logLineForPeople(`${line}\n`)).toMatch(
    /^\d\d:\d\d:\d\d warning job\.waiting {2}model=a\/b {2}reason="no room" {2}tries=2\n$/,
  );
  expect(logLineForPeople(JSON.stringify({ level: 30, time: 0, event: 'server.started' }))).toMatch(
    /^\d\d:\d\d:\d\d server\.started\n$/,
  );
});

test('a line that is not an entry is left unchanged', () => {
  expect(logLineForPeople('Segmentation fault\n')).toBe('Segmentation fault\n');
});
