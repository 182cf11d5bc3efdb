import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readServerSentEvents, type ServerSentEvent } from './sse-reader.ts';

async function read(pieces: readonly Uint8Array[]): Promise<ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  async function* body() {
    yield* pieces;
  }
  for await (const event of readServerSentEvents(body())) events.push(event);
  return events;
}

const bytes = new TextEncoder().encode(
  ': ping\n\nid: 1\ndata: {"a":"ä€😀"}\n\ndata: [DONE]\n\n: ping\n\nid: 2\ndata: x\ndata: y\n\ndata: never finished',
);

test('events arrive whole, without comments and without unfinished events', async () => {
  expect(await read([bytes])).toEqual([
    { id: '1', data: '{"a":"ä€😀"}' },
    { id: null, data: '[DONE]' },
    { id: '2', data: 'x\ny' },
  ]);
});

test('an event that never ends is an error, not a full memory', async () => {
  const piece = new TextEncoder().encode(`data: ${'x'.repeat(1024 * 1024)}\n`);
  await expect(read(Array.from({ length: 17 }, () => piece))).rejects.toThrow('over 16777216 characters');
});

test('events are the same wherever the network cuts, even inside a character or a line ending', async () => {
  const windows = new TextEncoder().encode(new TextDecoder().decode(bytes).replaceAll('\n', '\r\n'));
  const whole = await read([bytes]);
  const cuts = fc.array(fc.nat({ max: windows.length }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(cuts, fc.constantFrom(bytes, windows), async (at, source) => {
      const edges = [0, ...[...at].sort((a, b) => a - b), source.length];
      const pieces = edges.slice(1).map((end, i) => source.slice(edges[i], end));
      expect(await read(pieces)).toEqual(whole);
    }),
  );
});
