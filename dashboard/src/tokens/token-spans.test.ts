import { expect, test } from 'vitest';
import { textsOfBytes, toSpans } from './token-spans.ts';

const bytes = (text: string) => [...new TextEncoder().encode(text)];

test('a character over several tokens is one span of all of them', () => {
  const balloon = bytes('🎈');
  const texts = textsOfBytes([bytes('Hi '), balloon.slice(0, 1), balloon.slice(1, 3), [...balloon.slice(3), 33]]);
  expect(texts).toEqual(['Hi ', '', '', '🎈!']);
  expect(toSpans(texts)).toEqual([
    { text: 'Hi ', from: 0, to: 1 },
    { text: '🎈!', from: 1, to: 4 },
  ]);
});

test('the spans joined are the text, and every token is in exactly one', () => {
  const text = 'Grüße, 世界 — 🏳️‍🌈\u202eabc\u0000';
  const all = bytes(text);
  for (const size of [1, 2, 3, 7]) {
    const tokens = Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
    const spans = toSpans(textsOfBytes(tokens));
    expect(spans.map((span) => span.text).join('')).toBe(text);
    expect(spans.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i))).toEqual(
      tokens.map((_, i) => i),
    );
  }
});

test('bytes that are not text, and tokens without text, are shown as such', () => {
  expect(textsOfBytes([[0xff], bytes('a'), [0xe2, 0x82]])).toEqual(['\ufffd', 'a', '\ufffd']);
  expect(toSpans(['a', '', ''])).toEqual([
    { text: 'a', from: 0, to: 1 },
    { text: '', from: 1, to: 3 },
  ]);
  expect(toSpans([])).toEqual([]);
});
