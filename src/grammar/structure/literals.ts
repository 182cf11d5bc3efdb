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
}

export function createLiterals(hasDynamicAnchors: boolean): Literals {
  const known = new Map<string, Lit>();
  function of(node: SchemaNode, negated: boolean, from: readonly Resource[]): Lit {
    const scope = !hasDynamicAnchors ? [] : from.includes(node.resource) ? from : [...from, node.resource];
    const key = `${node.id}${negated ? '-' : '+'}${scope.map(({ id }) => id).join()}`;
    const found = known.get(key);
    if (found) return found;
    const lit = { id: known.size + 1, node, negated, scope };
    known.set(key, lit);
    return lit;
  }
  return { of, opposite: (lit) => of(lit.node, !lit.negated, lit.scope) };
}
