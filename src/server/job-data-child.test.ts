// The error message when the process that reads a job's data ends, tested with real signals.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { skipOutsideLinux } from '../../test/support/skipping.ts';
import { createJobDataChild } from './job-data-child.ts';

const directory = fileURLToPath(new URL('../../models/starter', import.meta.url));
const child = createJobDataChild({ directory, id: 'whetstone/starter', vocabSize: 1_626, template: null });
afterAll(() => child.close());

const budget = { tokensMax: 1 } as never; // nothing is read completely
const children = () => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');

test.each([
  ['SIGSEGV', /killed by SIGSEGV: it crashed .* not for lack of memory/],
  ['SIGABRT', /killed by SIGABRT: the data needs more than its \d+ MB of memory/],
] as const)(
  'the error for a reader that %s ended names the cause',
  { timeout: 60_000, ...skipOutsideLinux() },
  async (signal, message) => {
    const before = children();
    async function* content(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{');
      for (const pid of children().filter((each) => !before.includes(each))) process.kill(Number(pid), signal);
      yield Buffer.from('}');
    }
    const put = () => Promise.resolve();
    const reading = child.read(
      'rl',
      { blob: 'b', budget, hiddenSize: null, exactLogprobs: true },
      content(),
      put,
      AbortSignal.timeout(50_000),
    );
    const failure: unknown = await reading.catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'invalid_training_data',
      message: expect.stringMatching(message) as unknown,
    });
  },
);

test.each(['before it is read', 'while it is read'])(
  'data that is not wanted any more %s is read no further',
  async (when) => {
    const wanted = new AbortController();
    if (when === 'before it is read') wanted.abort();
    let asked = 0;
    async function* content(): AsyncGenerator<Uint8Array> {
      for (;;) {
        if (++asked === 2) wanted.abort();
        yield Buffer.from(' ');
      }
    }
    const reading = child.read(
      'rl',
      { blob: 'b', budget, hiddenSize: null, exactLogprobs: true },
      content(),
      () => Promise.resolve(),
      wanted.signal,
    );
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
    expect(asked).toBeLessThan(1_000);
  },
);
