import { expect, test } from 'vitest';
import { skipOutsideLinux } from '../../test/support/skipping.ts';
import { countOomKills, processEnd, type ExitFacts } from './process-end.ts';

const counted = { before: 3, after: 3 };
const facts = (given: Partial<ExitFacts>): ExitFacts => ({
  code: null,
  signal: null,
  lastWords: null,
  silence: null,
  oomKills: counted,
  ...given,
});

test.each<[Partial<ExitFacts>, string, boolean]>([
  [{ signal: 'SIGKILL' }, 'was killed by SIGKILL', true],
  [{ signal: 'SIGTERM' }, 'was killed by SIGTERM', true],
  [
    { signal: 'SIGKILL', oomKills: { before: 3, after: 4 } },
    'was killed by SIGKILL, as the machine or its container ran out of memory',
    false,
  ],
  [{ signal: 'SIGKILL', oomKills: { before: null, after: null } }, 'was killed by SIGKILL', false],
  [{ signal: 'SIGSEGV', oomKills: { before: 3, after: 4 } }, 'was killed by SIGSEGV', false],
  [{ signal: 'SIGABRT', lastWords: 'bad_alloc' }, 'was killed by SIGABRT: bad_alloc', false],
  [{ code: 7 }, 'exited with code 7', false],
  [
    { signal: 'SIGKILL', silence: 'did not answer for 9 ms' },
    'did not answer for 9 ms and was killed by SIGKILL',
    false,
  ],
])('%o: it %s; by others: %s', (given, how, byOthers) => {
  expect(processEnd(facts(given))).toEqual({ how, byOthers });
});

test('Linux says how often it ended processes for their memory', skipOutsideLinux(), () => {
  expect(countOomKills()).toBeGreaterThanOrEqual(0);
});
