// The grammar threads: what a wrong or evil grammar costs, and whom.
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { Constraint } from '#domain/constraint';
import { createGrammars, type GrammarLimits, type Grammars } from '#engine/onnx/serving/grammar/grammars';

/** Every byte is a token; 256 says that the text is over. */
const EOS = 256;
const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 258 }, (_, i) => Math.min(i, 256)),
};

let grammars: Grammars;
function open(limits: Partial<GrammarLimits> = {}): Grammars {
  grammars = createGrammars({ vocabulary, vocabSize: 300, stopTokenIds: [EOS], log: silentLog, limits });
  return grammars;
}
afterEach(() => grammars.close());

const ebnf = (source: string): Constraint => ({ kind: 'ebnf', source });
const regex = (source: string): Constraint => ({ kind: 'regex', source });
const allowed = (mask: Int32Array | null) =>
  mask && Array.from({ length: 300 }, (_, id) => id).filter((id) => ((mask[id >> 5]! >>> (id & 31)) & 1) === 1);
const codes = (text: string) => [...Buffer.from(text)];

test('a text is led to its end, and the end comes exactly when the text is complete', async () => {
  const matcher = await open().open(ebnf('root ::= "a" [bc]?'));
  expect(allowed(matcher.mask())).toEqual(codes('a'));
  matcher.accept(codes('a')[0]!);
  expect(allowed(matcher.mask())).toEqual([...codes('bc'), EOS]);
  matcher.accept(EOS);
  expect(matcher.mask()).toBeNull();
  matcher.close();
});

test('tokens that would break a character are not allowed, whatever the grammar', async () => {
  const matcher = await open().open(ebnf('root ::= [^a]*'));
  const first = allowed(matcher.mask())!;
  expect(first).toContain(0xc3);
  for (const byte of [0xc0, 0xc1, 0xf5, 0x80]) expect(first).not.toContain(byte);
  matcher.accept(0xed); // half of the lead bytes of U+D000 … U+D7FF; what follows must not make a surrogate
  expect(allowed(matcher.mask())).toEqual(Array.from({ length: 32 }, (_, i) => 0x80 + i));
});

test.each([
  [ebnf('root ::= "a'), /grammar cannot be used: .*Expect "/],
  [ebnf(''), /root/],
  [regex('('), /parenthesis is not closed/],
  [{ kind: 'structural_tag', source: '{"format": 5}' }, /structural tag/i],
  [{ kind: 'structural_tag', source: 'no json' }, /it is not JSON/],
] as const)('%j is refused with the reason, and texts that others began go on', async (wrong, reason) => {
  const matcher = await open().open(regex('[ab]{3}'));
  matcher.accept(codes('a')[0]!);
  await expect(grammars.compile(wrong)).rejects.toMatchObject({
    code: 'invalid_constraint',
    message: expect.stringMatching(reason) as string,
  });
  expect(allowed(matcher.mask())).toEqual(codes('ab'));
  await grammars.compile(regex('x+'));
});

test('a grammar that takes too long to compile is given up, and the next one is compiled', async () => {
  const slow = ebnf(`root ::= ${Array.from({ length: 70_000 }, (_, i) => `"k${i}"`).join(' | ')}`);
  open({ compileMs: 800 });
  await expect(grammars.compile(slow)).rejects.toMatchObject({ code: 'invalid_constraint', message: expect.stringMatching(/takes longer than 0.8 s/) as string }); // prettier-ignore
  await grammars.compile(regex('quick'));
});

test('a source without end is refused before it is read', async () => {
  await expect(open({ sourceLengthMax: 100 }).compile(regex('a'.repeat(101)))).rejects.toMatchObject({ code: 'invalid_constraint' }); // prettier-ignore
});
