// Questions about the language of a term that need a search through its derivatives: whether it has a word, how many it has, and
// whether a text is one of them. Searches are bounded.
import type { ByteClasses } from './byte-classes.ts';
import type { Derivatives } from './derivatives.ts';
import { TooComplex, type Term } from './term.ts';
import type { WorkBudget } from './work-budget.ts';

const SEARCH_MAX = 20_000; // states of one search for a word
const DEPTH_COUNTED = 100; // longer words are not counted

export class Languages {
  private readonly derivatives: Derivatives;
  private readonly classes: ByteClasses;
  private readonly budget: WorkBudget;

  constructor(derivatives: Derivatives, classes: ByteClasses, budget: WorkBudget) {
    this.derivatives = derivatives;
    this.classes = classes;
    this.budget = budget;
  }

  isAlive(term: Term): boolean {
    if (term.alive !== null) return term.alive;
    if (term.nullable) return (term.alive = true);
    switch (term.kind) {
      case 'none':
        return (term.alive = false);
      case 'concat':
        return (term.alive = this.isAlive(term.first) && this.isAlive(term.rest));
      case 'or':
        return (term.alive = term.parts.some((part) => this.isAlive(part)));
      case 'repeat':
        return (term.alive = this.isAlive(term.of));
      case 'and':
      case 'not':
        return this.search(term);
      case 'empty':
      case 'bytes':
      case 'words':
      case 'multiple':
        return (term.alive = true);
    }
  }

  matches(term: Term, text: Uint8Array): boolean {
    let at = term;
    for (const byte of text) {
      at = this.derivatives.derive(at, byte);
      if (at.kind === 'none') return false;
    }
    return at.nullable;
  }

  /** The number of words, at most `most`. Level by level, so that an infinite branch does not hide many short words. */
  count(start: Term, most: number): number {
    let level = new Map<Term, number>([[start, 1]]);
    let found = 0;
    for (let depth = 0; depth < DEPTH_COUNTED && level.size > 0 && found < most; depth++) {
      const deeper = new Map<Term, number>();
      for (const [at, ways] of level) {
        if (at.nullable) found += ways;
        for (let byte = 0; byte < 256; byte++) {
          const to = this.derivatives.derive(at, byte);
          if (this.isAlive(to)) deeper.set(to, Math.min(most, (deeper.get(to) ?? 0) + ways));
        }
      }
      level = deeper;
      if (level.size > most) return most; // each leads to a different word
    }
    return Math.min(most, found);
  }

  /** Searches breadth first for the shortest word. The states on the way to it are alive; if there is none, all visited states are dead. */
  private search(start: Term): boolean {
    const before = new Map<Term, Term | null>([[start, null]]);
    const queue = [start];
    for (const term of queue) {
      for (const byte of this.classes.representatives) {
        const next = this.derivatives.derive(term, byte);
        if (next.alive === false || before.has(next)) continue;
        before.set(next, term);
        if (next.nullable || next.alive === true) {
          for (let at: Term | null = next; at !== null; at = before.get(at)!) at.alive = true;
          return true;
        }
        queue.push(next);
      }
      if (queue.length > SEARCH_MAX) return this.giveUp(start);
    }
    for (const term of queue) term.alive = false;
    return false;
  }

  /** While a text is written, an undecided term counts as empty: another way to continue is known. */
  private giveUp(start: Term): boolean {
    if (this.budget.isCompiling)
      throw new TooComplex('it takes too much work to find out whether any text satisfies it');
    return (start.alive = false);
  }
}
