// One schema while its keywords are read: its literal, and the literals of its parts at their places. What is read becomes work
// (schemas that must hold for the same value) and choices. Does not know what a keyword means.
import { isObject } from '#base/is-object';
import type { Term } from '../lexemes/terms.ts';
import type { Alternative, Owners } from './alternatives.ts';
import type { Resource, SchemaDocument, SchemaNode } from './document.ts';
import type { Lit, Literals } from './literals.ts';
import { listOf } from './keyword-values.ts';
import { refusal, type Json } from './refusal.ts';

/** A schema that must hold for a value. */
export interface Work {
  readonly lit: Lit;
  readonly owners: Owners;
}

/** One option of a choice; all of it must hold. */
export interface Option {
  readonly work: readonly Work[];
  readonly atom?: (alternative: Alternative) => void;
  /** Schemas that must not hold. Skipped if they cannot hold together with the rest. */
  readonly excluding?: readonly Lit[];
}

export interface Choice {
  readonly options: readonly Option[];
}

/** What all schemas of a document share. */
export interface SchemaContext {
  readonly document: SchemaDocument;
  readonly literals: Literals;
  /** Throws a refusal that names the place. */
  pattern(source: string, place: string): Term;
  /** The opposite of a term. */
  not(term: Term): Term;
  spend(units: number): void;
  /** A number for an unevaluated* keyword. */
  newOwner(): number;
  /** Called for a way to violate a schema that cannot be expressed. */
  onDropped(pointer: string): void;
}

export class Reading {
  readonly raw: Json;
  readonly pointer: string;
  readonly node: SchemaNode;
  readonly context: SchemaContext;
  private readonly scope: readonly Resource[];

  constructor(lit: Lit, context: SchemaContext) {
    this.context = context;
    this.node = lit.node;
    this.scope = lit.scope;
    this.raw = lit.node.raw as Json;
    this.pointer = lit.node.pointer;
  }

  says(key: string): boolean {
    return this.raw[key] !== undefined;
  }

  /** A JSON pointer below this schema (RFC 6901). */
  at(...keys: readonly (string | number)[]): string {
    return [this.pointer, ...keys.map((key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
  }

  literal(part: unknown, place: string, negated = false): Lit {
    return this.of(this.context.document.node(part, place, this.node.resource), negated);
  }

  of(node: SchemaNode, negated: boolean): Lit {
    return this.context.literals.of(node, negated, this.scope);
  }

  /** A schema that no value satisfies. */
  never(): Lit {
    const { document, literals } = this.context;
    return literals.of(document.node(false, this.pointer, this.node.resource), false, []);
  }

  /** The schemas of a list keyword, as literals. */
  parts(key: string, negated = false): Lit[] {
    return listOf(this.raw[key], this.at(key)).map((part, i) => this.literal(part, this.at(key, i), negated));
  }

  /** The schemas of a keyword that gives each name one. */
  named(key: string): [string, unknown][] {
    const given = this.says(key) ? this.raw[key] : {};
    if (!isObject(given)) throw refusal(this.at(key), 'the value must be an object');
    return Object.entries(given);
  }

  /** The schema to which `$ref` or `$dynamicRef` leads. */
  referred(key: '$ref' | '$dynamicRef', reference: string, negated: boolean): Lit {
    const { document, literals } = this.context;
    const scope = this.scope.length > 0 ? this.scope : [this.node.resource];
    const node =
      key === '$ref' ? document.follow(this.node, reference) : document.followDynamic(this.node, reference, scope);
    return literals.of(node, negated, scope);
  }

  /** A constant list or object, as a schema of its parts. */
  decomposed(value: unknown): SchemaNode {
    return decomposed(value, this.node, this.context.document);
  }
}

/** A constant list or object, as a schema of its parts. */
export function decomposed(value: unknown, { pointer, resource }: SchemaNode, document: SchemaDocument): SchemaNode {
  return document.node(Array.isArray(value) ? listSchema(value) : objectSchema(value as Json), pointer, resource);
}

const listSchema = (items: readonly unknown[]): Json => ({
  type: 'array',
  prefixItems: items.map((item) => ({ const: item })),
  minItems: items.length,
  maxItems: items.length,
});

const objectSchema = (value: Json): Json => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(value).map(([key, part]) => [key, { const: part }])),
  required: Object.keys(value),
  maxProperties: Object.keys(value).length,
});
