// Regular languages over bytes as terms, closed under and, or, not, with counted repetition. A term is its own automaton: its
// derivative by a byte is the language of what may follow. Equal terms are one object, so states are built only when they are
// reached. Counters are numbers in a term and are never unfolded. Knows bytes, not characters or JSON.
import { ByteClasses } from './byte-classes.ts';
import { Derivatives } from './derivatives.ts';
import { Languages } from './languages.ts';
import { TermMakers } from './term-makers.ts';
import { OutOfRoom, TooComplex, type Term, type Terms } from './term.ts';
import { WorkBudget } from './work-budget.ts';

export { OutOfRoom, TooComplex, type Term, type Terms };

export function createTerms(sizeMax = 400_000): Terms {
  const budget = new WorkBudget();
  const classes = new ByteClasses();
  const make = new TermMakers(sizeMax, classes, budget);
  const derivatives = new Derivatives(make, classes, budget);
  const languages = new Languages(derivatives, classes, budget);
  const word = (text: string | Uint8Array) => make.word(typeof text === 'string' ? Buffer.from(text) : text);
  return {
    none: make.none,
    empty: make.empty,
    all: make.all,
    bytes: (from, to) => make.bytes(from, to),
    word,
    words: (texts) => (texts.length === 1 ? word(texts[0]!) : make.words(texts.map((text) => Buffer.from(text)))),
    multiple: (step) => make.multiple(step),
    concat: (parts) => parts.reduceRight((rest, part) => make.concat(part, rest), make.empty),
    or: (parts) => make.or(parts),
    and: (parts) => make.and(parts),
    not: (of) => make.not(of),
    repeat: (of, min, max) => make.repeat(of, min, max),
    optional: (of) => make.or([make.empty, of]),
    derive: (term, byte) => derivatives.derive(term, byte),
    isAlive: (term) => languages.isAlive(term),
    count: (term, most) => languages.count(term, most),
    matches: (term, text) => languages.matches(term, text),
    spend: (units) => budget.spend(units),
    allow(units, compiling) {
      budget.left = units;
      budget.isCompiling = compiling;
    },
    get left() {
      return budget.left;
    },
    get size() {
      return make.size;
    },
    get forgotten() {
      return make.forgotten;
    },
    forget: () => make.forget(),
  };
}
