// What counts as a lost server, and what a command's error then says.
import { expect, test } from 'vitest';
import { ApiError } from '#client/client';
import { explain } from './explain.ts';
import { interruptible } from './interrupt.ts';

const URL = 'http://127.0.0.1:1';
const OUTCOME = 'Check `whetstone jobs list` before you submit the job again.';

async function saidOf(cause: unknown): Promise<string> {
  const interruption = { line: () => 'Interrupted.', lost: OUTCOME };
  const error: unknown = await interruptible(interruption, () => Promise.reject(cause as Error)).catch(
    (e: unknown) => e,
  );
  return explain(error, { lastUrl: URL, hasAnswered: true, version: '0.0.0' });
}

const answered = (status: number) => new ApiError(status, 'The message.', null, null, null);

test.each([
  ['a broken connection', new TypeError('terminated'), `the connection to the server at ${URL} was lost.`],
  ['no connection', new TypeError('fetch failed: why'), `the connection to the server at ${URL} was lost.`],
  ['no answer in time', new DOMException('', 'TimeoutError'), `the server at ${URL} did not answer in time.`],
  ['502', answered(502), 'The message.'],
  ['503', answered(503), 'The message.'],
  ['504', answered(504), 'The message.'],
])('after %s the error says what happened to the work', async (_, cause, lost) => {
  expect(await saidOf(cause)).toBe(`${lost} ${OUTCOME}`);
});

test.each([429, 500, 501])(
  'an answer with status %i is not a lost server, and nothing is added to its message',
  async (status) => {
    expect(await saidOf(answered(status))).toBe('The message.');
  },
);
