// A source of job data is closed, whichever reader stops, and when.
import { expect, test } from 'vitest';
import { encoder } from '../../../../test/support/training/rollouts.ts';
import { createJobDataReader, type ReadData } from './job-data-reader.ts';

const call = { blob: 'b', budget: { tokensMax: 1 } as never, hiddenSize: null, exactLogprobs: true };

/** A source of two pieces. */
function openContent(bytes: number) {
  const content = { isOpen: true, [Symbol.asyncIterator]: () => iterator() };
  async function* iterator() {
    try {
      yield Buffer.alloc(bytes, ' ');
      yield Buffer.alloc(bytes, ' ');
    } finally {
      content.isOpen = false;
    }
  }
  return content;
}

const ended = () => Promise.reject(new Error('The process ended.'));
const untilEnd: ReadData = async (_kind, _call, content) => {
  for await (const _ of content);
  return ended();
};

test.each<[string, number, ReadData | null]>([
  ['is damaged', 10, null],
  ['nobody begins to read, because the process ended', 40_000, ended],
  ['the process ended behind', 40_000, untilEnd],
])('data that %s is closed', async (_, bytes, elsewhere) => {
  const content = openContent(bytes);
  const read = createJobDataReader(encoder, elsewhere);
  await expect(read('rl', call, content, () => Promise.resolve(), new AbortController().signal)).rejects.toThrow();
  expect(content.isOpen).toBe(false);
});
