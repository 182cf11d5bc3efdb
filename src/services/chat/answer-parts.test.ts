import { expect, test } from 'vitest';
import { plainDelta } from '../../../test/support/serving/plain-delta.ts';
import type { ChatDelta } from './answer.ts';
import { createPartReader, type PartEvent } from './answer-parts.ts';

const STOP = { finish: { reason: 'stop', stopReason: null } } as const;

function read(deltas: readonly Partial<ChatDelta>[]): PartEvent[] {
  const reader = createPartReader({ keepsTokens: true });
  return deltas.flatMap((fields) => reader.push(plainDelta(fields)));
}

const shape = (events: readonly PartEvent[]) =>
  events.map((event) => `${event.kind} ${event.index} ${event.kind === 'piece' ? event.text : event.part.kind}`);

test('reasoning, text and calls are parts in the order in which they arrive', () => {
  const events = read([
    { reasoning: 'Hm' },
    { reasoning: 'm.' },
    { content: 'Well: ' },
    { toolCalls: [{ index: 0, id: 'a', name: 'f', arguments: '' }] },
    { toolCalls: [{ index: 0, arguments: '{"x":' }] },
    {
      toolCalls: [
        { index: 0, arguments: '1}' },
        { index: 1, id: 'b', name: 'g', arguments: '{}' },
      ],
    },
    { content: 'Done.', ...STOP },
  ]);
  expect(shape(events)).toEqual([
    ...['begin 0 thinking', 'piece 0 Hm', 'piece 0 m.', 'end 0 thinking'],
    ...['begin 1 text', 'piece 1 Well: ', 'end 1 text'],
    ...['begin 2 call', 'piece 2 {"x":', 'piece 2 1}', 'end 2 call'],
    ...['begin 3 call', 'piece 3 {}', 'end 3 call'],
    ...['begin 4 text', 'piece 4 Done.', 'end 4 text'],
  ]);
  const ends = events.flatMap((event) => (event.kind === 'end' ? [event.part.text] : []));
  expect(ends).toEqual(['Hmm.', 'Well: ', '{"x":1}', '{}', 'Done.']);
});

test('an empty answer has no parts', () => {
  expect(read([{}, STOP])).toEqual([]);
});

test('tokens of held-back text arrive with the piece that brings the text, or at the end', () => {
  const events = read([{ content: '' }, { content: 'ab' }, { content: '' }, STOP]);
  const counts = events.flatMap((event) => (event.kind === 'piece' ? [event.tokens.length] : []));
  expect(counts).toEqual([2, 2]);
});

test('tokens of the reasoning are not those of the text after it, whether it is returned or not', () => {
  for (const hidden of [false, true]) {
    const edge = { thinking: 'edge', hidden } as const;
    const thought = { thinking: 'within', hidden, reasoning: hidden ? '' : 'Hm.' } as const;
    const events = read([edge, thought, thought, edge, { content: '' }, { content: 'Yes.' }, STOP]);
    const text = events.flatMap((event) => (event.kind === 'end' && event.part.kind === 'text' ? [event.part] : []));
    expect(text.map((part) => part.tokens.length)).toEqual([3]);
  }
});
