// What `jobs follow` and `train` print while the server is away, and before a job has events.
import { expect, test, vi } from 'vitest';
import type { Client, TrainingJob } from '#client/client';
import { followJob, sayConnection } from './jobs.ts';

const REFUSED = new TypeError('fetch failed: http://127.0.0.1:1 does not answer (ECONNREFUSED)');

function followed() {
  const clock = { ms: 0 };
  const lines: string[] = [];
  const onConnection = sayConnection('j1', () => lines.push('(bar removed)'), {
    warn: (line) => lines.push(line),
    now: () => clock.ms,
  });
  return { clock, lines, onConnection };
}

test('a lost connection is reported once, with its cause, and so is its end', () => {
  const { lines, onConnection } = followed();
  for (const state of [REFUSED, REFUSED, null]) onConnection(state);
  expect(lines).toEqual([
    '(bar removed)',
    'Connection to the server lost: http://127.0.0.1:1 does not answer (ECONNREFUSED). Trying again for up to 10 minutes.',
    '(bar removed)',
    'The server answers again.',
  ]);
});

test('after ten minutes without a connection the command ends and says how to follow the job later', () => {
  const { clock, onConnection } = followed();
  onConnection(REFUSED);
  clock.ms = 599_000;
  onConnection(REFUSED);
  clock.ms = 600_000;
  expect(() => onConnection(REFUSED)).toThrow(
    'no connection to the server for 10 minutes: http://127.0.0.1:1 does not answer (ECONNREFUSED). Job j1 continues when the server runs again. Follow it: whetstone jobs follow j1',
  );
});

test('the ten minutes begin anew after each connection', () => {
  const { clock, onConnection } = followed();
  onConnection(REFUSED);
  onConnection(null);
  clock.ms = 700_000;
  expect(() => onConnection(REFUSED)).not.toThrow();
});

test.each([
  ['running', 'job j1 has begun: its data is being read\n'],
  ['queued', 'job j1 is waiting: no trainer has started it. '],
  ['succeeded', ''],
])('of a job without an event that is %s, what is said is true', async (status, said) => {
  vi.useFakeTimers();
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const client = {
      follow: () => new Promise((_, reject) => setTimeout(() => reject(new Error('enough')), 60_000)),
      getTrainingJob: async () => ({ status }) as TrainingJob,
    } as unknown as Client;
    const following = expect(followJob(client, 'j1', { timeout: 60 })).rejects.toThrow('enough');
    await vi.advanceTimersByTimeAsync(60_000);
    await following;
    const printed = stderr.mock.calls.map(([text]) => String(text)).join('');
    expect(said === '' ? printed : printed.slice(0, said.length)).toBe(said);
  } finally {
    stderr.mockRestore();
    vi.useRealTimers();
  }
});
