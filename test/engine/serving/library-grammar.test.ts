// Patterns that the grammar library would misread are rewritten without changing their meaning: JavaScript's regular expressions
// decide.
import { afterAll, expect, test } from 'vitest';
import { createRandom, type Random } from '#base/random';
import { accepts, createByteGrammars, ebnf, regex } from './byte-grammars.ts';

const grammars = createByteGrammars();
afterAll(() => grammars.close());

test.each([
  [regex('[а-я]{3}'), ['где', 'яма'], ['513', 'abc', 'гд', 'ГДЕ']],
  [regex('[\\^a]'), ['^', 'a'], ['b', '\\']],
  [regex('[^а]'), ['b'], ['а']],
  [regex('^(yes|no)$'), ['yes', 'no'], ['yesno', '^yes$']],
  [regex('^a|b$'), ['a', 'b'], ['ab', 'ax']],
  [regex('é{2,1500}'), ['éé', 'é'.repeat(1_500)], ['é', 'é'.repeat(1_501), 'è']],
  [ebnf('root ::= [а-я] [\\^a] # a comment\n'), ['г^', 'яa'], ['5^', 'гb', 'г\\']],
  [ebnf('root ::= word("!"|"?")\nword ::= [a-zäöü]+'), ['grün!'], ['GRÜN!', 'a']],
  [ebnf('root ::= "baba" | "baa"'), ['baba', 'baa'], ['babbbba', 'ba', 'babaa']],
  [ebnf('root ::= ("1111" | "111" | "") end\nend ::= "."'), ['1111.', '111.', '.'], ['11111.', '11.']],
  [ebnf('root ::= "a" ws "b"\nws ::= | " " | "\\n" [ \\t]{0,20}'), ['ab', 'a b', 'a\n\tb'], ['a  b', 'a']],
  [ebnf('root ::= ("b" |) "." | "a" |\nend ::= "."'), ['b.', '.', 'a', ''], ['b', 'ab']],
  [ebnf('root ::= ("" | "a") [bc] "x" | ("" | "a") [bd] "y"'), ['bx', 'by', 'abx', 'ady'], ['ax', 'dx', 'cy']],
  [ebnf('start: /[а-я]{2}/ | "x"'), ['да', 'x'], ['51', 'xx']],
  [regex('(?i)yes|né'), ['YES', 'yEs', 'NÉ'], ['no', 'yesné']],
  [regex('(?s)a.(?i:b)'), ['a\nb', 'axB'], ['A\nb']],
  [ebnf('start: /ab/i'), ['AB', 'aB'], ['b']],
  // XGrammar 0.2.8 accepts and refuses the same texts.
  [ebnf('start: "a" "b"\n%ignore " "'), ['ab', 'a b', 'ab ', 'a  b'], [' ab']],
  [ebnf('start: A B\nA: "x" "y"\nB: /z+/\n%ignore " "'), ['xyz', 'xy zz'], ['x yz', 'xy z z']],
  [ebnf('%import common.INT\nstart: INT ("," INT)*\n%ignore " "'), ['1,2', '1 , 2', '12'], ['1 2']],
  [ebnf('%import common.NUMBER -> N\nstart: N'), ['1', '1.', '.5', '1.5e-3', '1e5'], ['-1', 'a', '.']],
  [ebnf('%import common (WS, SIGNED_INT)\nstart: SIGNED_INT WS'), ['1 ', '-20\t\n'], ['1', '- 1 ']],
  [
    ebnf('%import common.ESCAPED_STRING\nstart: ESCAPED_STRING'),
    ['"a\\"b"', '"a\\\\"', '""'],
    ['"a"b"', '"\n"', '"\\"'],
  ],
  [ebnf('%import common.C_COMMENT\nstart: C_COMMENT'), ['/* a * b **/', '/**/'], ['/* a */ b */', '/*/']],
] as const)('%j', async (constraint, good, bad) => {
  for (const text of good) expect(await accepts(grammars, constraint, text), text).toBe(true);
  for (const text of bad) expect(await accepts(grammars, constraint, text), text).toBe(false);
});

const pick = <T>(items: readonly T[], random: Random): T => items[random.integer(items.length)]!;

/** Options with shared prefixes, of few characters: the library joins them into loops. */
function randomPattern(random: Random, depth: number): string {
  const some = (count: number, part: () => string) => Array.from({ length: count }, part);
  if (depth > 0 && random.next() < 0.6)
    return `(${some(2 + random.integer(2), () => randomPattern(random, depth - 1)).join('|')})${pick(['', '', '?', '{1,2}', '*'], random)}`;
  if (depth > 0 && random.next() < 0.4) return some(2, () => randomPattern(random, depth - 1)).join('');
  return some(
    1 + random.integer(4),
    () => pick(['a', 'b', 'é', '[ab]', '[ab]', '[aé]'], random) + pick(['', '', '{2}', '{1,3}'], random),
  ).join('');
}

test('150 random expressions allow the texts that match, and no others', { timeout: 120_000 }, async () => {
  const random = createRandom(3);
  for (let i = 0; i < 150; i++) {
    const pattern = randomPattern(random, 3);
    const judge = new RegExp(`^(?:${pattern})$`, 'u');
    const texts = Array.from({ length: 40 }, () =>
      Array.from({ length: random.integer(9) }, () => pick(['a', 'b', 'é'], random)).join(''),
    );
    const verdicts = await Promise.all(texts.map((text) => accepts(grammars, regex(pattern), text)));
    const wrong = texts.filter((text, t) => verdicts[t] !== judge.test(text));
    expect(wrong, pattern).toEqual([]);
  }
});

test('200 random choices allow their own texts only', { timeout: 120_000 }, async () => {
  const random = createRandom(4);
  const word = () => Array.from({ length: 1 + random.integer(5) }, () => pick(['a', 'b', 'é', 'è'], random)).join('');
  for (let i = 0; i < 200; i++) {
    const words = Array.from({ length: 2 + random.integer(6) }, word);
    const constraint = ebnf(`root ::= ${words.map((each) => `"${each}"`).join(' | ')}`);
    const texts = [...words, ...Array.from({ length: 20 }, () => word() + word())];
    const verdicts = await Promise.all(texts.map((text) => accepts(grammars, constraint, text)));
    expect(
      texts.filter((text, t) => verdicts[t] !== words.includes(text)),
      words.join(),
    ).toEqual([]);
  }
});
