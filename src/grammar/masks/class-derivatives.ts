// Derivatives by a whole class of characters: what follows any character of the class, if that is the same for all. Read from
// the parts of a term if possible; only runs and sequences of bytes are checked byte by byte.
import type { ByClass, Term, Terms } from '../lexemes/term.ts';
import { SAFE, SYMBOLS, sequencesOf } from './symbols.ts';

/** A class that leads to more states than this within one character is handled character by character. */
const STATES_MAX = 8;

/** Returns null if the characters are not known to lead to the same term. */
export const deriveBy = (terms: Terms, term: Term, symbol: number): Term | null =>
  symbol < 256 ? terms.derive(term, symbol) : (classOf(terms, term, symbol)?.next ?? null);

export const deriveBySafe = (terms: Terms, term: Term): Term | null => deriveBy(terms, term, SAFE);

function classOf(terms: Terms, term: Term, symbol: number): ByClass | null {
  const known = (term.classes ??= []);
  const found = known[symbol - 256];
  return found === undefined ? (known[symbol - 256] = look(terms, term, symbol)) : found;
}

function look(terms: Terms, term: Term, symbol: number): ByClass | null {
  terms.spend(1);
  const nothing = { next: terms.none, isWhole: true };
  switch (term.kind) {
    case 'none':
    case 'empty':
      return nothing;
    case 'bytes':
      return alike(terms, term, symbol);
    case 'concat': {
      const first = classOf(terms, term.first, symbol);
      if (!first?.isWhole) return alikeIfBytes(terms, term, symbol);
      const next = terms.concat([first.next, term.rest]);
      if (!term.first.nullable) return { next, isWhole: true };
      const rest = classOf(terms, term.rest, symbol);
      return rest && { next: terms.or([next, rest.next]), isWhole: rest.isWhole };
    }
    case 'or': {
      const parts = partsOf(terms, term.parts, symbol);
      if (parts === null) return alikeIfBytes(terms, term, symbol);
      return { next: terms.or(parts.map(({ next }) => next)), isWhole: parts.every(({ isWhole }) => isWhole) };
    }
    case 'and': {
      const parts = partsOf(terms, term.parts, symbol);
      return parts && { next: terms.and(parts.map(({ next }) => next)), isWhole: parts.some(({ isWhole }) => isWhole) };
    }
    case 'not': {
      const of = classOf(terms, term.of, symbol);
      return of && { next: terms.not(of.next), isWhole: isByte(symbol) };
    }
    case 'repeat': {
      const of = classOf(terms, term.of, symbol);
      if (!of?.isWhole) return null;
      const rest = terms.repeat(term.of, Math.max(0, term.min - 1), term.max - 1);
      return { next: terms.concat([of.next, rest]), isWhole: true };
    }
    case 'words': {
      const { words, depth } = term;
      const leads = sequencesOf(symbol).map(([lead]) => lead!);
      for (let at = term.nullable ? term.from + 1 : term.from; at < term.to; at++) {
        const byte = words.sorted[at]![depth]!;
        if (leads.some(([from, to]) => byte >= from && byte <= to)) return null;
      }
      return nothing;
    }
    case 'multiple':
      return symbol === SYMBOLS.digit || symbol === SAFE ? null : nothing;
  }
}

function partsOf(terms: Terms, of: readonly Term[], symbol: number): ByClass[] | null {
  const parts: ByClass[] = [];
  for (const term of of) {
    const part = classOf(terms, term, symbol);
    if (part === null) return null;
    parts.push(part);
  }
  return parts;
}

const isByte = (symbol: number): boolean => symbol !== SAFE && symbol !== SYMBOLS.wide;

/** Characters of several bytes are alternatives of byte sequences; only all of them together form a class. */
function alikeIfBytes(terms: Terms, term: Term, symbol: number): ByClass | null {
  const isBytes = (part: Term) =>
    part.kind === 'bytes' || part.kind === 'words' || (part.kind === 'concat' && part.first.kind === 'bytes');
  const canTell = !isByte(symbol) && (term.kind === 'or' ? term.parts : [term]).every(isBytes);
  return canTell ? alike(terms, term, symbol) : null;
}

function alike(terms: Terms, term: Term, symbol: number): ByClass | null {
  let found: Term | null = null;
  let isWhole = true;
  for (const sequence of sequencesOf(symbol)) {
    let states = new Set([term]);
    for (const [at, [from, to]] of sequence.entries()) {
      if (at > 0 && [...states].some(({ nullable }) => nullable)) isWhole = false;
      const next = new Set<Term>();
      for (const state of states) for (let byte = from; byte <= to; byte++) next.add(terms.derive(state, byte));
      if (next.size > (at === sequence.length - 1 ? 1 : STATES_MAX)) return null;
      states = next;
    }
    const [next] = states;
    if (found !== null && next !== found) return null;
    found = next!;
  }
  return { next: found!, isWhole };
}
