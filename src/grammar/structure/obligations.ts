// The obligations of a document: sets of schemas that hold for one value. Equal sets are one object. Does not know what values
// satisfy them.
import { TooComplex } from '../lexemes/terms.ts';
import { keepFirst, type Lit } from './literals.ts';
import type { Obligation } from './shapes.ts';

export class Obligations {
  private readonly known = new Map<string, Obligation>();
  private lastId = 0;
  private max: number;

  constructor(max: number) {
    this.max = max;
  }

  get count(): number {
    return this.known.size;
  }

  /** A schema that holds for every value adds nothing. */
  of(given: readonly Lit[]): Obligation {
    const lits = [...new Set(given)].filter(({ node, negated }) => node.raw !== !negated).sort((a, b) => a.id - b.id);
    const key = lits.map(({ id }) => id).join();
    const found = this.known.get(key);
    if (found) return found;
    if (this.known.size >= this.max) throw new TooComplex('too many of its schemas apply to the same value');
    const made: Obligation = { id: this.lastId++, lits, form: null, possible: false };
    this.known.set(key, made);
    return made;
  }

  all(): Iterable<Obligation> {
    return this.known.values();
  }

  limit(max: number): void {
    this.max = max;
  }

  /** Forgets all but the first ones. */
  keep(count: number): void {
    keepFirst(this.known, count);
  }
}
