// Adds one literal to an alternative: all that its schema says if it must hold (hold.ts), or the ways to violate it if it must not
// (violate.ts). An alternative takes each literal once, and none together with its opposite.
import { patternTerm } from '../lexemes/pattern.ts';
import type { Term, Terms } from '../lexemes/terms.ts';
import type { Alternative } from './alternatives.ts';
import type { SchemaDocument, SchemaNode } from './document.ts';
import { hold } from './hold.ts';
import type { Literals } from './literals.ts';
import { decomposed, Reading, type Choice, type SchemaContext, type Work } from './reading.ts';
import { refusal } from './refusal.ts';
import { violations } from './violate.ts';

export interface Applier {
  /** Adds what the work says; returns the remaining work and choices. */
  apply(work: Work, to: Alternative): { readonly work: readonly Work[]; readonly choices: readonly Choice[] };
  /** A constant value, as a schema of its parts. */
  decomposed(value: unknown, like: SchemaNode): SchemaNode;
}

export interface ApplierOptions {
  readonly terms: Terms;
  readonly document: SchemaDocument;
  readonly literals: Literals;
  /** Called for a way to violate a schema that cannot be expressed. */
  readonly onDropped: (pointer: string) => void;
  /** Called for a schema that no value satisfies, or that every value satisfies where it must not hold. */
  readonly onNever: (pointer: string) => void;
}

const NOTHING = { work: [], choices: [] };
const IMPOSSIBLE = { work: [], choices: [{ options: [] }] };

export function createApplier({ terms, document, literals, onDropped, onNever }: ApplierOptions): Applier {
  let owners = 0;
  const context: SchemaContext = {
    document,
    literals,
    pattern: createPatterns(terms),
    not: (term) => terms.not(term),
    spend: (units) => terms.spend(units),
    newOwner: () => ++owners,
    onDropped,
  };
  return {
    decomposed: (value, like) => decomposed(value, like, document),
    apply({ lit, owners }, to) {
      const key = `${lit.id}:${owners.join()}`;
      if (to.done.has(key)) return NOTHING;
      to.done.add(key);
      if (to.done.has(`!${literals.opposite(lit).id}`)) return IMPOSSIBLE;
      to.done.add(`!${lit.id}`);
      if (typeof lit.node.raw === 'boolean') {
        if (lit.node.raw !== lit.negated) return NOTHING;
        onNever(lit.node.pointer);
        return IMPOSSIBLE;
      }
      const reading = new Reading(lit, context);
      if (!lit.negated) return hold(reading, to, owners);
      const choice = violations(reading);
      if (choice.options.length === 0) onNever(lit.node.pointer);
      return { work: [], choices: [choice] };
    },
  };
}

/** Patterns by their source, each compiled once. */
function createPatterns(terms: Terms): SchemaContext['pattern'] {
  const patterns = new Map<string, Term>();
  return (source, place) => {
    try {
      const known = patterns.get(source) ?? patternTerm(terms, source, 'json', 'part');
      patterns.set(source, known);
      return known;
    } catch (error) {
      throw refusal(place, error instanceof Error ? error.message : String(error));
    }
  };
}
