// The grammar threads: the cost of an invalid or hostile grammar, and which request bears it.
import { afterEach, expect, test, vi } from 'vitest';
import type { GrammarLimits, Grammars } from '#grammar/grammars';
import { accepts, createByteGrammars, ebnf, EOS, isAllowed, jsonSchema, regex, VOCAB_SIZE } from './byte-grammars.ts';

let grammars: Grammars;
function open(limits: Partial<GrammarLimits> = {}): Grammars {
  grammars = createByteGrammars(limits);
  return grammars;
}
afterEach(() => grammars.close());

const allowed = (mask: Int32Array | null) =>
  mask && Array.from({ length: VOCAB_SIZE }, (_, id) => id).filter((id) => isAllowed(mask, id));
const codes = (text: string) => [...Buffer.from(text)];

test('a text is led to its end, and the end comes exactly when the text is complete', async () => {
  const [matcher] = await open().open(ebnf('root ::= "a" [bc]?'), 1, 'a');
  expect(allowed(matcher!.mask())).toEqual(codes('a'));
  matcher!.accept(codes('a')[0]!);
  expect(allowed(matcher!.mask())).toEqual([...codes('bc'), EOS]);
  matcher!.accept(EOS);
  expect(matcher!.mask()).toBeNull();
  matcher!.close();
});

test('tokens that would break a character are not allowed, whatever the grammar', async () => {
  const [matcher] = await open().open(ebnf('root ::= [^a]*'), 1, 'a');
  const first = allowed(matcher!.mask())!;
  expect(first).toContain(0xc3);
  for (const byte of [0xc0, 0xc1, 0xf5, 0x80]) expect(first).not.toContain(byte);
  matcher!.accept(0xed); // half of the lead bytes of U+D000 … U+D7FF; what follows must not make a surrogate
  expect(allowed(matcher!.mask())).toEqual(Array.from({ length: 32 }, (_, i) => 0x80 + i));
});

test.each([
  [ebnf('root ::= "a'), /grammar cannot be used: .*ends within a literal/],
  [ebnf(''), /rule `root` is missing/],
  [ebnf('root ::= ()'), /an expression is missing/],
  [ebnf('root ::= missing'), /missing/],
  [regex('('), /expression cannot be used: .*a group is not closed/],
  [regex('a{,3}'), /`\{` repeats nothing here: write `\{0,n\}` for `\{,n\}`/],
  [regex('a{2}{3}'), /`\{` repeats nothing here/],
  [regex('\\[[^]]+\\]'), /`\]` at the beginning of \[…\] must be written `\\\]`/],
  [regex('[]a]'), /`\]` at the beginning/],
  [regex('[[:alpha:]]+'), /`\[:alpha:\]` in \[…\] is not supported/],
  [regex('[a-z&&[^b]]'), /`&&\[` in \[…\] is not supported/],
  [regex('(?m)^a$'), /\(\?m…\) is not supported/],
  [regex('a(?i)b'), /\(\?i…\) is not supported/],
  [{ kind: 'structural_tag', source: '{"format": 5}' }, /structural tag/i],
  [{ kind: 'structural_tag', source: 'no json' }, /tag cannot be used: it is not valid JSON/],
  [{ kind: 'structural_tag', source: '{"format": {"type": "tag"}}' }, /`begin` of a tag must be a string/],
  [ebnf('root ::= "a" root'), /rule `root` never ends/],
  [ebnf('root ::= a "x" | "y"\na ::= root "z"'), /is left-recursive through other rules/],
  [ebnf('root ::= "(" root ")" root root root root | ""\n'.replace('| ""', '')), /never ends/],
  [ebnf(`root ::= ${'('.repeat(20_000)}"a"${')'.repeat(20_000)}`), /nested more than 500 deep/],
] as const)('%j is refused with the reason, and texts in progress continue', async (wrong, reason) => {
  const [matcher] = await open().open(regex('[ab]{3}'), 1, 'a');
  matcher!.accept(codes('a')[0]!);
  await expect(grammars.compile(wrong, { payer: 'a' })).rejects.toMatchObject({
    code: 'invalid_constraint',
    message: expect.stringMatching(reason) as string,
  });
  expect(allowed(matcher!.mask())).toEqual(codes('ab'));
  await grammars.compile(regex('x+'), { payer: 'a' });
});

/** Takes minutes if work is not limited: two long lists are compared word by word. */
const words = (from: number) => Array.from({ length: 60_000 }, (_, i) => from + i);
const SLOW = jsonSchema({ allOf: [{ enum: words(100_000) }, { enum: words(200_000) }] });
const uncounted = { workMax: Infinity };

test('a grammar that takes too long to compile is given up, and the next one is compiled', async () => {
  const compileMs = 7_000;
  open({ compileMs, ...uncounted });
  await grammars.compile(regex('its thread has started'), { payer: 'a' });
  // Only the test advances the deadline's clock: on a busy machine the quick one may take any time.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const refused = expect(grammars.compile(SLOW, { payer: 'a' })).rejects.toMatchObject({
      code: 'invalid_constraint',
      message: expect.stringMatching(/takes longer than 7 s/) as string,
    });
    while (vi.getTimerCount() < 2) await new Promise(setImmediate); // its deadline, and the timer that marks it as slow
    vi.advanceTimersByTime(compileMs - 1);
    expect(vi.getTimerCount()).toBe(1); // it is still pending
    vi.advanceTimersByTime(1);
    await refused;
    await grammars.compile(regex('quick'), { payer: 'a' });
  } finally {
    vi.useRealTimers();
  }
});

test('next to a grammar that is slow to compile, other requests begin and end; the slow one gets an error of its own', async () => {
  const [quickMs, compileMs] = [100, 7_000];
  open({ quickMs, compileMs, maskMs: 60_000, ...uncounted });
  await grammars.compile(regex('its thread has started'), { payer: 'a' });
  // Only the test advances the clock: quick grammars count as quick on a busy machine too.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const slow = grammars.compile(SLOW, { payer: 'a' }).catch((error: unknown) => error);
    while (vi.getTimerCount() < 2) await new Promise(setImmediate); // the timer that marks it as slow, and its deadline
    vi.advanceTimersByTime(quickMs);
    const words = ['one', 'two', 'three', 'four'];
    const texts = await Promise.all(words.map((word) => accepts(grammars, regex(word), word)));
    expect(texts).toEqual([true, true, true, true]);
    vi.advanceTimersByTime(compileMs - quickMs);
    expect(await slow).toMatchObject({
      code: 'invalid_constraint',
      message: 'This constraint takes longer than 7 s to compile. Use a simpler one.',
    });
  } finally {
    vi.useRealTimers();
  }
});

test('a grammar that is slow and good is matched in its own thread; a third one gets an error that says to come back', async () => {
  open({ quickMs: 1 });
  const choice = (letter: string) =>
    ebnf(`root ::= ${Array.from({ length: 20_000 }, (_, i) => `"${letter}${i}"`).join(' | ')}`);
  const [a, b] = [await grammars.open(choice('a'), 2, 'a'), await grammars.open(choice('b'), 1, 'a')];
  expect(allowed(a[1]!.mask())).toEqual(codes('a'));
  expect(allowed(b[0]!.mask())).toEqual(codes('b'));
  await expect(grammars.open(choice('c'), 1, 'a')).rejects.toMatchObject({ code: 'engine_unavailable' });
  for (const matcher of a) matcher.close();
  expect(await accepts(grammars, choice('c'), 'c19999')).toBe(true);
  expect(await accepts(grammars, choice('b'), 'b17')).toBe(true);
});

test('a constraint is prepared once, however many texts begin with it, and in its thread', async () => {
  open();
  const constraint = jsonSchema({ type: 'object', properties: { a: { type: 'integer' } } });
  const source = vi.fn(() => constraint.source);
  await grammars.compile(constraint, { payer: 'a' });
  const matchers = await grammars.open(
    Object.defineProperty({ ...constraint }, 'source', { get: source, enumerable: true }),
    8,
    'a',
  );
  expect(matchers).toHaveLength(8);
  expect(source.mock.calls.length).toBeLessThanOrEqual(2); // for its length, and its key
});

test('a source without end is refused before it is read', async () => {
  await expect(open({ sourceLengthMax: 100 }).compile(regex('a'.repeat(101)), { payer: 'a' })).rejects.toMatchObject({
    code: 'invalid_constraint',
  });
});
