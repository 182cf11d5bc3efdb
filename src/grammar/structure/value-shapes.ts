// Converts an alternative into the shapes of its objects and arrays: the obligation of every key and every position. Keys that the
// schema does not name form classes, one for each set of patterns that they match.
import { textsTerm } from '../lexemes/characters.ts';
import { TooComplex, type Term, type Terms } from '../lexemes/terms.ts';
import type { Alternative, ObjectLayer } from './alternatives.ts';
import type { Lit } from './literals.ts';
import type { ArrayShape, ItemChoice, KeyClass, NamedKey, ObjectShape, Obligation } from './shapes.ts';

export interface ValueShapes {
  /** `unevaluated`: all layers are known, so that unevaluated* keywords can be applied. */
  readonly valueOf: (to: Alternative, name: string, unevaluated: boolean) => Obligation;
  readonly itemAt: (to: Alternative, index: number, unevaluated: boolean) => Lit[];
  readonly objectShape: (to: Alternative) => ObjectShape | null;
  readonly arrayShape: (to: Alternative) => ArrayShape | null;
}

export interface ValueShapesOptions {
  readonly terms: Terms;
  readonly strict: boolean;
  readonly anyString: Term;
  readonly obligationOf: (lits: readonly Lit[]) => Obligation;
  /** The characters between the quotes of strings for which these hold. */
  readonly stringsOf: (lits: readonly Lit[]) => Term;
  readonly spend: () => void;
  readonly never: Lit;
}

export function createValueShapes(options: ValueShapesOptions): ValueShapes {
  const { terms, strict, anyString, obligationOf, stringsOf, spend, never } = options;
  let shapes = 0;
  const quote = terms.word('"');
  const impossible = obligationOf([never]);

  /** The obligation of a key's value. `unevaluated`: all layers are known. */
  function valueOf(to: Alternative, name: string, unevaluated: boolean): Obligation {
    const bytes = Buffer.from(JSON.stringify(name).slice(1, -1));
    return obligationOf(
      describing(to, unevaluated, (layer) => {
        const own = layer.properties.get(name);
        const matched = layer.patterns.filter(({ key }) => terms.matches(key, bytes)).map(({ lit }) => lit);
        return own ? [own, ...matched] : matched;
      }),
    );
  }

  function describing(to: Alternative, unevaluated: boolean, described: (layer: ObjectLayer) => readonly Lit[]): Lit[] {
    terms.spend(to.objects.length);
    const evaluated = new Set<number>();
    const lits: Lit[] = [];
    for (const layer of to.objects) {
      const own = described(layer);
      const all = own.length > 0 ? own : layer.additional ? [layer.additional] : [];
      lits.push(...all);
      if (all.length > 0) for (const owner of layer.owners) evaluated.add(owner);
    }
    if (unevaluated) for (const { lit, owner } of to.unevaluatedProperties) if (!evaluated.has(owner)) lits.push(lit);
    return lits;
  }

  function itemAt(to: Alternative, index: number, unevaluated: boolean): Lit[] {
    const evaluated = new Set<number>();
    const lits: Lit[] = [];
    for (const { prefix, rest, owners } of to.arrays) {
      const lit = prefix[index] ?? rest;
      if (lit === null) continue;
      lits.push(lit);
      for (const owner of owners) evaluated.add(owner);
    }
    if (unevaluated) for (const { lit, owner } of to.unevaluatedItems) if (!evaluated.has(owner)) lits.push(lit);
    return lits;
  }

  function objectShape(to: Alternative): ObjectShape | null {
    const names = new Set<string>(to.required);
    for (const { properties } of to.objects) for (const name of properties.keys()) names.add(name);
    for (const [name, others] of to.dependent) for (const each of [name, ...others]) names.add(each);
    const isClosed = (strict && to.named && !to.open) || to.maxProperties <= to.required.size;
    const keyTerm = to.names.length === 0 ? null : stringsOf(to.names);
    const list = [...names];
    const indexOf = new Map(list.map((name, i) => [name, i]));
    terms.spend(list.length * 5);
    const keys = list.map((name, index): NamedKey => {
      const bytes = Buffer.from(JSON.stringify(name).slice(1, -1));
      const isKey = keyTerm === null || terms.matches(keyTerm, bytes);
      return {
        name,
        index,
        value: isKey ? valueOf(to, name, true) : impossible,
        needs: [...(to.dependent.get(name) ?? [])].map((other) => indexOf.get(other)!),
        required: to.required.has(name),
      };
    });
    const classes = isClosed ? [] : keyClasses(to, list, keyTerm);
    const counts = classes.length > 0 && (to.minProperties > 0 || to.maxProperties < Infinity);
    const texts = list.map((name) => Buffer.from(`${JSON.stringify(name).slice(1)}`));
    const sorted = texts.map((_, i) => i).sort((a, b) => Buffer.compare(texts[a]!, texts[b]!));
    return {
      kind: 'object',
      id: ++shapes,
      keys,
      classes,
      min: to.minProperties,
      max: to.maxProperties,
      texts: sorted.map((i) => texts[i]!),
      sorted,
      counts,
    };
  }

  function keyClasses(to: Alternative, names: readonly string[], keyTerm: Term | null): KeyClass[] {
    const unnamed = terms.and([
      anyString,
      ...(keyTerm ? [keyTerm] : []),
      ...(names.length > 0 ? [terms.not(textsTerm(terms, names, 'json'))] : []),
    ]);
    let classes: { key: Term; matched: ReadonlySet<Term> }[] = [{ key: unnamed, matched: new Set() }];
    const patterns = new Set(to.objects.flatMap((layer) => layer.patterns.map(({ key }) => key)));
    for (const pattern of patterns)
      classes = classes.flatMap(({ key, matched }) => {
        spend();
        return [
          { key: terms.and([key, pattern]), matched: new Set([...matched, pattern]) },
          { key: terms.and([key, terms.not(pattern)]), matched },
        ].filter((each) => terms.isAlive(each.key));
      });
    return classes
      .filter(({ key }) => terms.isAlive(key))
      .map(({ key, matched }): KeyClass => ({
        key: terms.concat([key, quote]),
        value: obligationOf(
          describing(to, true, ({ patterns: own }) =>
            own.filter((each) => matched.has(each.key)).map(({ lit }) => lit),
          ),
        ),
        size: to.minProperties > 0 ? terms.count(key, Math.min(to.minProperties, 1_000)) : Infinity,
      }));
  }

  function arrayShape(to: Alternative): ArrayShape | null {
    const length = Math.min(Math.max(0, ...to.arrays.map(({ prefix }) => prefix.length)), to.maxItems);
    const contained = to.contains;
    if (contained.length > 4) throw new TooComplex('it has too many `contains`');
    const items: ItemChoice[][] = [];
    for (let i = 0; i <= length; i++) {
      terms.spend(4 << contained.length);
      const base = itemAt(to, i, true);
      const choices: ItemChoice[] = [];
      for (let set = 0; set < 1 << contained.length; set++) {
        const lits = [...base];
        contained.forEach((each, c) => {
          if ((set >> c) & 1) lits.push(each.lit);
          else if (each.max < Infinity) lits.push(each.opposite);
        });
        choices.push({ value: obligationOf(lits), counted: contained.flatMap((_, c) => ((set >> c) & 1 ? [c] : [])) });
      }
      items.push(choices);
    }
    return {
      kind: 'array',
      id: ++shapes,
      items,
      min: to.minItems,
      max: to.maxItems,
      contained: contained.map(({ min, max }) => ({ min, max })),
      unique: to.unique !== null && to.maxItems > 1 ? { key: null, place: to.unique } : null,
    };
  }

  return { valueOf, itemAt, objectShape, arrayShape };
}
