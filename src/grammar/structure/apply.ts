// Adds what one schema says about a value to an alternative: everything at once if the schema must hold, or the ways to violate it if
// it must not. Subschemas that apply to the same value (allOf, $ref, …) become work; alternatives (anyOf, …) become a choice.
import { isObject } from '#base/is-object';
import { patternTerm } from '../lexemes/pattern.ts';
import { patternOfFormat } from '../lexemes/formats.ts';
import type { Term, Terms } from '../lexemes/terms.ts';
import { ALL_TYPES, Alternative, TYPES, type Owners } from './alternatives.ts';
import type { Resource, SchemaDocument, SchemaNode } from './document.ts';
import type { Lit, Literals } from './literals.ts';
import {
  bounds,
  excludeScalars,
  dependencies,
  isEqual,
  itemsOf,
  listOf,
  stepOf,
  typesOf,
  valuesOf,
} from './keyword-values.ts';
import { countOf, namesOf, refusal, type Json } from './refusal.ts';

/** A schema that must hold for the same value. */
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

const NEVER: Choice = { options: [] };

export function createApplier({ terms, document, literals, onDropped, onNever }: ApplierOptions): Applier {
  let owners = 0;
  const patterns = new Map<string, Term>();

  function pattern(source: string, place: string): Term {
    try {
      const known = patterns.get(source) ?? patternTerm(terms, source, 'json', 'part');
      patterns.set(source, known);
      return known;
    } catch (error) {
      throw refusal(place, error instanceof Error ? error.message : String(error));
    }
  }

  const never = (node: SchemaNode): Lit => literals.of(document.node(false, node.pointer, node.resource), false, []);

  function decomposed(value: unknown, { pointer, resource }: SchemaNode): SchemaNode {
    const raw: Json = Array.isArray(value)
      ? {
          type: 'array',
          prefixItems: value.map((item: unknown) => ({ const: item })),
          minItems: value.length,
          maxItems: value.length,
        }
      : {
          type: 'object',
          properties: Object.fromEntries(Object.entries(value as Json).map(([key, part]) => [key, { const: part }])),
          required: Object.keys(value as object),
          maxProperties: Object.keys(value as object).length,
        };
    return document.node(raw, pointer, resource);
  }

  function holds({ lit, owners: outer }: Work, to: Alternative): { work: Work[]; choices: Choice[] } {
    const { node, scope } = lit;
    const raw = node.raw as Json;
    const { pointer, resource } = node;
    const work: Work[] = [];
    const choices: Choice[] = [];
    const nodeAt = (part: unknown, place: string) => document.node(part, place, resource);
    const litAt = (part: unknown, place: string, negated = false) => literals.of(nodeAt(part, place), negated, scope);
    const says = (key: string) => raw[key] !== undefined;
    let inner = outer;

    for (const key of ['unevaluatedProperties', 'unevaluatedItems'] as const)
      if (says(key)) {
        const owner = ++owners;
        inner = [...inner, owner];
        to[key].push({ lit: litAt(raw[key], `${pointer}/${key}`), owner });
        if (key === 'unevaluatedProperties') to.open = true;
      }
    const inPlace = (part: unknown, place: string, negated = false): Work => ({
      lit: litAt(part, place, negated),
      owners: inner,
    });

    const types = typesOf(raw, pointer);
    if (types) {
      to.only(types.types);
      if (types.integer) to.integer(true);
    }
    const values = valuesOf(raw, pointer);
    if (values !== null) {
      if (to.values !== null) terms.spend(to.values.length * values.length);
      to.values =
        to.values === null ? values : to.values.filter((value) => values.some((other) => isEqual(value, other)));
    }

    for (const { value, inclusive, isLow } of bounds(raw, pointer)) to.bound(value, inclusive, isLow);
    const step = stepOf(raw, pointer);
    if (step !== null && !to.isTrial) to.number = { ...to.number, multiples: [...to.number.multiples, step] };

    to.minLength = Math.max(to.minLength, countOf(raw, 'minLength', pointer) ?? 0);
    to.maxLength = Math.min(to.maxLength, countOf(raw, 'maxLength', pointer) ?? Infinity);
    if (says('pattern')) {
      if (typeof raw.pattern !== 'string') throw refusal(`${pointer}/pattern`, 'the value must be a string');
      to.strings.push(pattern(raw.pattern, `${pointer}/pattern`));
    }
    const format = typeof raw.format === 'string' ? patternOfFormat(raw.format) : null;
    if (format !== null && !to.isTrial) to.strings.push(pattern(format, `${pointer}/format`));

    if (says('properties') || says('patternProperties') || says('additionalProperties')) {
      for (const key of ['properties', 'patternProperties'])
        if (says(key) && !isObject(raw[key])) throw refusal(`${pointer}/${key}`, 'the value must be an object');
      const entries = (key: string) => Object.entries((raw[key] ?? {}) as Json);
      const place = (key: string, name: string) =>
        `${pointer}/${key}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      to.objects.push({
        properties: new Map(
          entries('properties').map(([name, part]) => [name, litAt(part, place('properties', name))]),
        ),
        patterns: entries('patternProperties').map(([source, part]) => ({
          key: pattern(source, place('patternProperties', source)),
          lit: litAt(part, place('patternProperties', source)),
        })),
        additional: says('additionalProperties')
          ? litAt(raw.additionalProperties, `${pointer}/additionalProperties`)
          : null,
        owners: inner,
      });
      if (says('properties')) to.named = true;
      if (says('additionalProperties') || says('patternProperties')) to.open = true;
    }
    if (typeof raw.required !== 'boolean')
      for (const name of namesOf(raw.required, `${pointer}/required`)) to.required.add(name);
    else throw refusal(`${pointer}/required`, 'the value must be a list of names');
    if (says('propertyNames')) to.names.push(litAt(raw.propertyNames, `${pointer}/propertyNames`));
    to.minProperties = Math.max(to.minProperties, countOf(raw, 'minProperties', pointer) ?? 0);
    to.maxProperties = Math.min(to.maxProperties, countOf(raw, 'maxProperties', pointer) ?? Infinity);

    const { prefix, prefixKey, rest, restKey } = itemsOf(raw, pointer);
    if (prefix.length > 0 || rest !== undefined)
      to.arrays.push({
        prefix: prefix.map((part, i) => litAt(part, `${pointer}/${prefixKey}/${i}`)),
        rest: rest === undefined ? null : litAt(rest, `${pointer}/${restKey}`),
        owners: inner,
      });
    to.minItems = Math.max(to.minItems, countOf(raw, 'minItems', pointer) ?? 0);
    to.maxItems = Math.min(to.maxItems, countOf(raw, 'maxItems', pointer) ?? Infinity);
    if (says('contains')) {
      const one = litAt(raw.contains, `${pointer}/contains`);
      const [min, max] = [countOf(raw, 'minContains', pointer) ?? 1, countOf(raw, 'maxContains', pointer) ?? Infinity];
      if (min > 0 || max < Infinity) to.contains.push({ lit: one, opposite: literals.opposite(one), min, max });
    }
    if (raw.uniqueItems === true) to.unique = true;

    for (const key of ['$dynamicRef', '$ref', '$recursiveRef'] as const) {
      const reference = raw[key];
      if (reference === undefined) continue;
      if (typeof reference !== 'string') throw refusal(`${pointer}/${key}`, 'the value must be a string');
      if (key === '$recursiveRef') throw refusal(`${pointer}/${key}`, '`$recursiveRef` is not supported');
      const to =
        key === '$ref'
          ? document.follow(node, reference)
          : document.followDynamic(node, reference, withOwn(scope, resource));
      work.push({ lit: literals.of(to, false, withOwn(scope, resource)), owners: inner });
    }
    if (says('allOf'))
      listOf(raw.allOf, `${pointer}/allOf`).forEach((part, i) => work.push(inPlace(part, `${pointer}/allOf/${i}`)));
    if (says('anyOf'))
      choices.push({
        options: listOf(raw.anyOf, `${pointer}/anyOf`).map((part, i) => ({
          work: [inPlace(part, `${pointer}/anyOf/${i}`)],
        })),
      });
    if (says('oneOf')) {
      const parts = listOf(raw.oneOf, `${pointer}/oneOf`).map((part, i) => inPlace(part, `${pointer}/oneOf/${i}`));
      choices.push({
        options: parts.map((part, i) => ({
          work: [part],
          ...(parts.length > 1 && { excluding: parts.filter((_, other) => other !== i).map((other) => other.lit) }),
        })),
      });
    }
    if (says('not')) work.push({ lit: litAt(raw.not, `${pointer}/not`, true), owners: [] });
    if (says('if') && (says('then') || says('else'))) {
      const condition = (negated: boolean) => inPlace(raw.if, `${pointer}/if`, negated);
      choices.push({
        options: [
          { work: [condition(false), ...(says('then') ? [inPlace(raw.then, `${pointer}/then`)] : [])] },
          { work: [condition(true), ...(says('else') ? [inPlace(raw.else, `${pointer}/else`)] : [])] },
        ],
      });
    }
    const { names, schemas } = dependencies(raw, pointer);
    for (const [name, others] of names) {
      const all = new Set(to.dependent.get(name));
      for (const other of others) all.add(other);
      to.dependent.set(name, all);
    }
    for (const [name, part, place] of schemas)
      choices.push({
        options: [
          { work: [], atom: (alternative) => alternative.forbid(name, never(node)) },
          { work: [inPlace(part, place)], atom: (alternative) => { if (alternative.types & TYPES.object) alternative.required.add(name); alternative.only(TYPES.object); } },
        ],
      }); // prettier-ignore
    return { work, choices };
  }

  function breaks({ lit }: Work): Choice {
    const { node, scope } = lit;
    const raw = node.raw as Json;
    const { pointer, resource } = node;
    const options: Option[] = [];
    const litAt = (part: unknown, place: string, negated: boolean) =>
      literals.of(document.node(part, place, resource), negated, scope);
    const inPlace = (part: unknown, place: string, negated: boolean): Work => ({
      lit: litAt(part, place, negated),
      owners: [],
    });
    const says = (key: string) => raw[key] !== undefined;
    const way = (atom: (alternative: Alternative) => void, work: readonly Work[] = []) => options.push({ work, atom });
    const drop = (key: string) => onDropped(`${pointer}/${key}`);

    const types = typesOf(raw, pointer);
    if (types) {
      way((to) => to.only(ALL_TYPES & ~types.types));
      if (types.integer) way((to) => { to.only(TYPES.number); to.integer(false); }); // prettier-ignore
    }
    const values = valuesOf(raw, pointer);
    if (values !== null)
      way(
        (to) => excludeScalars(to, values),
        values
          .filter((value) => typeof value === 'object' && value !== null)
          .map((value) => ({ lit: literals.of(decomposed(value, node), true, scope), owners: [] })),
      );
    for (const { value, inclusive, isLow } of bounds(raw, pointer))
      way((to) => { to.only(TYPES.number); to.bound(value, !inclusive, !isLow); }); // prettier-ignore
    const step = stepOf(raw, pointer);
    if (step !== null && Number.isInteger(Number(step)))
      way((to) => { to.only(TYPES.number); to.number = { ...to.number, notMultiples: [...to.number.notMultiples, step] }; }); // prettier-ignore
    else if (step !== null) drop('multipleOf');

    const [minLength, maxLength] = [countOf(raw, 'minLength', pointer) ?? 0, countOf(raw, 'maxLength', pointer)];
    if (minLength > 0) way((to) => { to.only(TYPES.string); to.maxLength = Math.min(to.maxLength, minLength - 1); }); // prettier-ignore
    if (maxLength !== null) way((to) => { to.only(TYPES.string); to.minLength = Math.max(to.minLength, maxLength + 1); }); // prettier-ignore
    if (typeof raw.pattern === 'string') {
      const term = terms.not(pattern(raw.pattern, `${pointer}/pattern`));
      way((to) => { to.only(TYPES.string); to.strings.push(term); }); // prettier-ignore
    }
    if (typeof raw.format === 'string' && patternOfFormat(raw.format) !== null) drop('format');

    if (Array.isArray(raw.required))
      for (const name of namesOf(raw.required, `${pointer}/required`))
        way((to) => { to.only(TYPES.object); to.forbid(name, never(node)); }); // prettier-ignore
    if (isObject(raw.properties))
      for (const [name, part] of Object.entries(raw.properties)) {
        if (part === true || (isObject(part) && Object.keys(part).length === 0)) continue;
        const opposite = litAt(part, `${pointer}/properties/${name}`, true);
        way((to) => {
          to.only(TYPES.object);
          to.required.add(name);
          to.objects.push({ properties: new Map([[name, opposite]]), patterns: [], additional: null, owners: [] });
        });
      }
    for (const key of [
      'patternProperties',
      'additionalProperties',
      'propertyNames',
      'unevaluatedProperties',
      'unevaluatedItems',
      'uniqueItems',
    ])
      if (says(key) && raw[key] !== true && !(key === 'uniqueItems' && raw[key] === false)) drop(key);
      else if (key === 'uniqueItems' && raw[key] === true) drop(key);
    const [minP, maxP] = [countOf(raw, 'minProperties', pointer) ?? 0, countOf(raw, 'maxProperties', pointer)];
    if (minP > 0) way((to) => { to.only(TYPES.object); to.maxProperties = Math.min(to.maxProperties, minP - 1); }); // prettier-ignore
    if (maxP !== null) way((to) => { to.only(TYPES.object); to.minProperties = Math.max(to.minProperties, maxP + 1); }); // prettier-ignore

    const { prefix, prefixKey, rest, restKey } = itemsOf(raw, pointer);
    prefix.forEach((part, i) => {
      if (part === true) return;
      const opposite = litAt(part, `${pointer}/${prefixKey}/${i}`, true);
      const anything = litAt(true, pointer, false);
      way((to) => {
        to.only(TYPES.array);
        to.minItems = Math.max(to.minItems, i + 1);
        to.arrays.push({ prefix: [...prefix.slice(0, i).map(() => anything), opposite], rest: null, owners: [] });
      });
    });
    if (rest !== undefined && rest !== true) {
      if (rest === false)
        way((to) => { to.only(TYPES.array); to.minItems = Math.max(to.minItems, prefix.length + 1); }); // prettier-ignore
      else if (prefix.length > 0) drop(restKey);
      else {
        const opposite = litAt(rest, `${pointer}/${restKey}`, true);
        way((to) => { to.only(TYPES.array); to.contains.push({ lit: opposite, opposite: literals.opposite(opposite), min: 1, max: Infinity }); }); // prettier-ignore
      }
    }
    const [minI, maxI] = [countOf(raw, 'minItems', pointer) ?? 0, countOf(raw, 'maxItems', pointer)];
    if (minI > 0) way((to) => { to.only(TYPES.array); to.maxItems = Math.min(to.maxItems, minI - 1); }); // prettier-ignore
    if (maxI !== null) way((to) => { to.only(TYPES.array); to.minItems = Math.max(to.minItems, maxI + 1); }); // prettier-ignore
    if (says('contains')) {
      const one = litAt(raw.contains, `${pointer}/contains`, false);
      const opposite = literals.opposite(one);
      const [min, max] = [countOf(raw, 'minContains', pointer) ?? 1, countOf(raw, 'maxContains', pointer)];
      if (min === 1) way((to) => { to.only(TYPES.array); to.arrays.push({ prefix: [], rest: opposite, owners: [] }); }); // prettier-ignore
      else if (min > 1) way((to) => { to.only(TYPES.array); to.contains.push({ lit: one, opposite, min: 0, max: min - 1 }); }); // prettier-ignore
      if (max !== null) way((to) => { to.only(TYPES.array); to.contains.push({ lit: one, opposite, min: max + 1, max: Infinity }); }); // prettier-ignore
    }

    for (const key of ['$dynamicRef', '$ref'] as const) {
      if (typeof raw[key] !== 'string') continue;
      const to =
        key === '$ref'
          ? document.follow(node, raw[key])
          : document.followDynamic(node, raw[key], withOwn(scope, resource));
      options.push({ work: [{ lit: literals.of(to, true, withOwn(scope, resource)), owners: [] }] });
    }
    const parts = (key: string, negated: boolean) =>
      listOf(raw[key], `${pointer}/${key}`).map((part, i) => inPlace(part, `${pointer}/${key}/${i}`, negated));
    if (says('allOf')) for (const part of parts('allOf', true)) options.push({ work: [part] });
    if (says('anyOf')) options.push({ work: parts('anyOf', true) });
    if (says('oneOf')) {
      options.push({ work: parts('oneOf', true) });
      const all = parts('oneOf', false);
      all.forEach((a, i) => all.slice(i + 1).forEach((b) => options.push({ work: [a, b] })));
    }
    if (says('not')) options.push({ work: [inPlace(raw.not, `${pointer}/not`, false)] });
    if (says('if')) {
      if (says('then'))
        options.push({ work: [inPlace(raw.if, `${pointer}/if`, false), inPlace(raw.then, `${pointer}/then`, true)] });
      if (says('else'))
        options.push({ work: [inPlace(raw.if, `${pointer}/if`, true), inPlace(raw.else, `${pointer}/else`, true)] });
    }
    const { names, schemas } = dependencies(raw, pointer);
    for (const [name, others] of names)
      for (const other of others)
        way((to) => { to.only(TYPES.object); to.required.add(name); to.forbid(other, never(node)); }); // prettier-ignore
    for (const [name, part, place] of schemas)
      way((to) => { to.only(TYPES.object); to.required.add(name); }, [inPlace(part, place, true)]); // prettier-ignore
    return { options };
  }

  return {
    decomposed,
    apply(work, to) {
      const { lit } = work;
      const key = `${lit.id}:${work.owners.join()}`;
      if (to.done.has(key)) return { work: [], choices: [] };
      to.done.add(key);
      if (to.done.has(`!${literals.opposite(lit).id}`)) return { work: [], choices: [NEVER] };
      to.done.add(`!${lit.id}`);
      if (typeof lit.node.raw === 'boolean') {
        if (lit.node.raw !== lit.negated) return { work: [], choices: [] };
        onNever(lit.node.pointer);
        return { work: [], choices: [NEVER] };
      }
      if (!lit.negated) return holds(work, to);
      const choice = breaks(work);
      if (choice.options.length === 0) onNever(lit.node.pointer);
      return { work: [], choices: [choice] };
    },
  };
}

const withOwn = (scope: readonly Resource[], resource: Resource): readonly Resource[] =>
  scope.length > 0 ? scope : [resource];
