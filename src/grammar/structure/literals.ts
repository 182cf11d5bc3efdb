// A schema that must hold for a value, or must not: the unit of obligations. Equal literals are one object.
import type { Resource, SchemaNode } from './document.ts';

export interface Lit {
  readonly id: number;
  readonly node: SchemaNode;
  readonly negated: boolean;
  /** Resources entered on the way, for dynamic references; empty if the document has no dynamic anchors. */
  readonly scope: readonly Resource[];
}

export interface Literals {
  of(node: SchemaNode, negated: boolean, scope: readonly Resource[]): Lit;
  opposite(lit: Lit): Lit;
  /** Forgets all but the first ones. */
  keep(count: number): void;
  readonly count: number;
}

export function createLiterals(hasDynamicAnchors: boolean): Literals {
  const known = new Map<string, Lit>();
  let lastId = 0;
  function of(node: SchemaNode, negated: boolean, from: readonly Resource[]): Lit {
    const scope = !hasDynamicAnchors ? [] : from.includes(node.resource) ? from : [...from, node.resource];
    const key = `${node.id}${negated ? '-' : '+'}${scope.map(({ id }) => id).join()}`;
    const found = known.get(key);
    if (found) return found;
    const lit = { id: ++lastId, node, negated, scope };
    known.set(key, lit);
    return lit;
  }
  return {
    of,
    opposite: (lit) => of(lit.node, !lit.negated, lit.scope),
    keep: (count) => keepFirst(known, count),
    get count() {
      return known.size;
    },
  };
}

/** Entries of a map in the order in which they were added. */
export function keepFirst(map: Map<string, unknown>, count: number): void {
  for (const key of [...map.keys()].slice(count)) map.delete(key);
}
