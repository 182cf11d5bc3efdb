// What may follow a byte in the language of a term (Brzozowski, JACM 1964): a term again. Each is computed once for all bytes that
// no term tells apart. Does not know which terms have words.
import type { ByteClasses } from './byte-classes.ts';
import type { TermMakers } from './term-makers.ts';
import type { Term } from './term.ts';
import type { WorkBudget } from './work-budget.ts';

export class Derivatives {
  private readonly make: TermMakers;
  private readonly classes: ByteClasses;
  private readonly budget: WorkBudget;

  constructor(make: TermMakers, classes: ByteClasses, budget: WorkBudget) {
    this.make = make;
    this.classes = classes;
    this.budget = budget;
  }

  derive(term: Term, byte: number): Term {
    const representative = this.classes.representativeOf(byte);
    const next = (term.next ??= []);
    return (next[representative] ??= this.compute(term, representative));
  }

  private compute(term: Term, byte: number): Term {
    const { make } = this;
    this.budget.spend(1);
    switch (term.kind) {
      case 'none':
      case 'empty':
        return make.none;
      case 'bytes':
        return ((term.set[byte >> 5]! >>> (byte & 31)) & 1) === 1 ? make.empty : make.none;
      case 'concat': {
        const first = make.concat(this.derive(term.first, byte), term.rest);
        return term.first.nullable ? make.or([first, this.derive(term.rest, byte)]) : first;
      }
      case 'or':
        return make.or(term.parts.map((part) => this.derive(part, byte)));
      case 'and':
        return make.and(term.parts.map((part) => this.derive(part, byte)));
      case 'not':
        return make.not(this.derive(term.of, byte));
      case 'repeat': {
        const rest = make.repeat(term.of, Math.max(0, term.min - 1), term.max - 1);
        return make.concat(this.derive(term.of, byte), rest);
      }
      case 'words': {
        const { words, depth } = term;
        const start = term.nullable ? term.from + 1 : term.from;
        const from = firstAt(words.sorted, start, term.to, depth, byte);
        const to = firstAt(words.sorted, from, term.to, depth, byte + 1);
        return from === to ? make.none : make.wordsBehind(words, from, to, depth + 1);
      }
      case 'multiple': {
        if (byte < 0x30 || byte > 0x39) return make.none;
        return make.multipleBehind(term.step, (Math.max(0, term.remainder) * 10 + byte - 0x30) % term.step);
      }
    }
  }
}

/** The index of the first of `sorted[from … to)` whose byte at `depth` is at least `byte`. */
function firstAt(sorted: readonly Uint8Array[], from: number, to: number, depth: number, byte: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]![depth]! < byte) low = middle + 1;
    else high = middle;
  }
  return low;
}
