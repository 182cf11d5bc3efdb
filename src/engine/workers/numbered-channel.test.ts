// Two ends of a channel whose connections break at any byte: every message arrives once and in order.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeMessage } from '../rpc/codec.ts';
import { createNumberedChannel, type NumberedChannel } from './numbered-channel.ts';

type End = NumberedChannel<number, number>;

const unexpected = () => expect.unreachable();

/** Messages queue in each direction until they are released; a break loses the queued ones. */
function openLab() {
  const ends: readonly [End, End] = [createNumberedChannel(1_000_000), createNumberedChannel(1_000_000)];
  const came: [number[], number[]] = [[], []];
  ends.forEach((end, at) => end.receive((message) => came[at]!.push(message)));
  const lines: [Uint8Array[], Uint8Array[]] = [[], []];
  const connect = () => {
    lines[0] = [];
    lines[1] = [];
    const known = ends.map(({ received }) => received);
    ends.forEach((end, at) => {
      const line = lines[at]!;
      end.attach({ send: (bytes) => void line.push(bytes), close: unexpected }, known[1 - at]!);
    });
  };
  const letThrough = (from: 0 | 1) => {
    const bytes = lines[from].shift();
    if (bytes) ends[1 - from]!.take(bytes);
  };
  const settle = () => {
    while (lines[0].length + lines[1].length > 0) ([0, 1] as const).forEach(letThrough);
  };
  const breakOff = () => ends.forEach((end) => end.detach());
  connect();
  return { ends, came, connect, letThrough, settle, breakOff };
}

const action = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('send' as const), end: fc.constantFrom(0 as const, 1 as const) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('pass' as const), end: fc.constantFrom(0 as const, 1 as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('break' as const), end: fc.constant(0 as const) }) },
);

test('whatever breaks when, every message arrives once and in order', () => {
  const run = fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
    const lab = openLab();
    const sent: [number, number] = [0, 0];
    for (const step of actions) {
      if (step.do === 'send') lab.ends[step.end].send(++sent[step.end]);
      else if (step.do === 'pass') lab.letThrough(step.end);
      else {
        lab.breakOff();
        lab.connect();
      }
    }
    lab.breakOff();
    lab.connect();
    lab.settle();
    const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
    expect(lab.came).toEqual([upTo(sent[1]), upTo(sent[0])]);
  });
  fc.assert(run, { numRuns: 300 });
});

test('a channel whose other end acknowledges nothing is full, until it does', async () => {
  const channel = createNumberedChannel<number, number>(100);
  channel.attach({ send: () => {}, close: unexpected }, 0);
  for (let i = 0; i < 50; i++) channel.send(i);
  expect(channel.isFull).toBe(true);
  const room = channel.whenRoom();
  channel.take(encodeMessage([0, 50, null]));
  await room;
  expect(channel.isFull).toBe(false);
});

test.each([
  ['no MessagePack', Uint8Array.of(0xc1), /invalid frame/],
  ['half a message', encodeMessage([1, 0, 'abcdef']).slice(0, 5), /invalid frame/],
  ['another value', encodeMessage({ seq: 1 }), /a frame must be \[seq, ack, message\]/],
  ['a gap', encodeMessage([2, 0, 'x']), /message 2 arrived after message 0/],
  [
    'an acknowledgement of what was not sent',
    encodeMessage([0, 1, null]),
    /message 1 was acknowledged, but only 0 were sent/,
  ],
  ['a negative number', encodeMessage([-1, 0, 'x']), /a frame must be/],
])('%s closes the connection with the reason', (_name, bytes, reason) => {
  const closed: [number, string][] = [];
  const channel = createNumberedChannel<number, string>(100);
  channel.receive(expect.unreachable);
  channel.attach({ send: () => {}, close: (...how) => void closed.push(how) }, 0);
  channel.take(bytes);
  expect(closed).toEqual([[4002, expect.stringMatching(reason)]]);
});
