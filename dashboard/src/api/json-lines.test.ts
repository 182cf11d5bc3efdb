import { expect, test } from 'vitest';
import { readJsonLines } from './json-lines.ts';

const streamOf = (text: string, size: number): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
};

test.each([1, 3, 7, 1000])('rows arrive whole wherever the stream is cut (%i bytes)', async (size) => {
  const rows = [{ text: 'Grüße 🎈' }, { text: 'a\nb' }, { text: '' }];
  const text = rows.map((row) => JSON.stringify(row)).join('\n');
  for (const end of ['', '\n']) {
    const read: unknown[] = [];
    for await (const batch of readJsonLines(streamOf(text + end, size))) read.push(...batch);
    expect(read).toEqual(rows);
  }
});

test('an empty stream has no rows', async () => {
  for await (const batch of readJsonLines(streamOf('', 1))) expect(batch).toEqual([]);
});
