// The ways in which a value can violate a schema, vocabulary by vocabulary: one option for each keyword that it could break. A way
// that cannot be expressed is dropped and reported.
import { isObject } from '#base/is-object';
import { patternOfFormat } from '../lexemes/formats.ts';
import { ALL_TYPES, TYPES, type Alternative } from './alternatives.ts';
import { rivalsOf } from './disjoint.ts';
import { bounds, dependencies, excludeScalars, itemsOf, stepOf, typesOf, valuesOf } from './keyword-values.ts';
import type { Lit } from './literals.ts';
import type { Choice, Option, Reading, Work } from './reading.ts';
import { countOf, namesOf } from './refusal.ts';

export const violations = (reading: Reading): Choice => ({
  options: [
    ...ofValues(reading),
    ...ofNumbers(reading),
    ...ofStrings(reading),
    ...ofObjects(reading),
    ...ofArrays(reading),
    ...ofReferences(reading),
    ...ofSchemas(reading),
    ...ofDependencies(reading),
  ],
});

/** What a value of these types may be. */
const way = (types: number, change: (to: Alternative) => void, work: readonly Work[] = []): Option => ({
  work,
  atom: (to) => {
    to.only(types);
    change(to);
  },
});

const unowned = (lit: Lit): Work => ({ lit, owners: [] });

const drop = ({ context, pointer }: Reading, key: string) => context.onDropped(`${pointer}/${key}`);

function* ofValues(reading: Reading): Iterable<Option> {
  const { raw, pointer } = reading;
  const types = typesOf(raw, pointer);
  if (types) {
    yield way(ALL_TYPES & ~types.types, () => {});
    if (types.integer) yield way(TYPES.number, (to) => to.integer(false));
  }
  const values = valuesOf(raw, pointer);
  if (values === null) return;
  const composed = values.filter((value) => typeof value === 'object' && value !== null);
  yield way(
    ALL_TYPES,
    (to) => excludeScalars(to, values),
    composed.map((value) => unowned(reading.of(reading.decomposed(value), true))),
  );
}

function* ofNumbers(reading: Reading): Iterable<Option> {
  const { raw, pointer } = reading;
  for (const { value, inclusive, isLow } of bounds(raw, pointer))
    yield way(TYPES.number, (to) => to.bound(value, !inclusive, !isLow));
  const step = stepOf(raw, pointer);
  if (step === null) return;
  if (Number.isInteger(Number(step))) yield way(TYPES.number, (to) => to.excludeMultiples(step));
  else drop(reading, 'multipleOf');
}

/** Too few or too many characters, properties or items. */
function* ofCounts({ raw, pointer }: Reading, type: number, counted: 'Length' | 'Properties' | 'Items') {
  const min = countOf(raw, `min${counted}`, pointer) ?? 0;
  const max = countOf(raw, `max${counted}`, pointer);
  if (min > 0) yield way(type, (to) => to.atMost(`max${counted}`, min - 1));
  if (max !== null) yield way(type, (to) => to.atLeast(`min${counted}`, max + 1));
}

function* ofStrings(reading: Reading): Iterable<Option> {
  const { raw, context } = reading;
  yield* ofCounts(reading, TYPES.string, 'Length');
  if (typeof raw.pattern === 'string') {
    const term = context.not(context.pattern(raw.pattern, reading.at('pattern')));
    yield way(TYPES.string, (to) => to.strings.push(term));
  }
  if (typeof raw.format === 'string' && patternOfFormat(raw.format) !== null) drop(reading, 'format');
}

const INEXPRESSIBLE = [
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'unevaluatedProperties',
  'unevaluatedItems',
];

function* ofObjects(reading: Reading): Iterable<Option> {
  const { raw } = reading;
  if (Array.isArray(raw.required))
    for (const name of namesOf(raw.required, reading.at('required')))
      yield way(TYPES.object, (to) => to.forbid(name, reading.never()));
  if (isObject(raw.properties))
    for (const [name, part] of Object.entries(raw.properties)) {
      if (isAnything(part)) continue;
      const opposite = reading.literal(part, reading.at('properties', name), true);
      yield way(TYPES.object, (to) => to.require(name, opposite));
    }
  for (const key of INEXPRESSIBLE) if (reading.says(key) && raw[key] !== true) drop(reading, key);
  if (reading.says('uniqueItems') && raw.uniqueItems !== false) drop(reading, 'uniqueItems');
  yield* ofCounts(reading, TYPES.object, 'Properties');
}

const isAnything = (part: unknown): boolean => part === true || (isObject(part) && Object.keys(part).length === 0);

function* ofArrays(reading: Reading): Iterable<Option> {
  const { prefix, prefixKey, rest, restKey } = itemsOf(reading.raw, reading.pointer);
  for (const [i, part] of prefix.entries()) {
    if (part === true) continue;
    const opposite = reading.literal(part, reading.at(prefixKey, i), true);
    const anything = reading.literal(true, reading.pointer);
    yield way(TYPES.array, (to) => {
      to.atLeast('minItems', i + 1);
      to.arrays.push({ prefix: [...prefix.slice(0, i).map(() => anything), opposite], rest: null, owners: [] });
    });
  }
  if (rest !== undefined && rest !== true) yield* ofRest(reading, rest, restKey, prefix.length);
  yield* ofCounts(reading, TYPES.array, 'Items');
  if (reading.says('contains')) yield* ofContains(reading);
}

function* ofRest(reading: Reading, rest: unknown, key: string, before: number): Iterable<Option> {
  if (rest === false) yield way(TYPES.array, (to) => to.atLeast('minItems', before + 1));
  else if (before > 0) drop(reading, key);
  else {
    const lit = reading.literal(rest, reading.at(key), true);
    const opposite = reading.context.literals.opposite(lit);
    yield way(TYPES.array, (to) => to.contains.push({ lit, opposite, min: 1, max: Infinity }));
  }
}

function* ofContains(reading: Reading): Iterable<Option> {
  const { raw, pointer, context } = reading;
  const lit = reading.literal(raw.contains, reading.at('contains'));
  const opposite = context.literals.opposite(lit);
  const min = countOf(raw, 'minContains', pointer) ?? 1;
  const max = countOf(raw, 'maxContains', pointer);
  if (min === 1) yield way(TYPES.array, (to) => to.arrays.push({ prefix: [], rest: opposite, owners: [] }));
  if (min > 1) yield way(TYPES.array, (to) => to.contains.push({ lit, opposite, min: 0, max: min - 1 }));
  if (max !== null) yield way(TYPES.array, (to) => to.contains.push({ lit, opposite, min: max + 1, max: Infinity }));
}

function* ofReferences(reading: Reading): Iterable<Option> {
  for (const key of ['$dynamicRef', '$ref'] as const) {
    const reference = reading.raw[key];
    if (typeof reference === 'string') yield { work: [unowned(reading.referred(key, reference, true))] };
  }
}

function* ofSchemas(reading: Reading): Iterable<Option> {
  const parts = (key: string, negated: boolean) => reading.parts(key, negated).map(unowned);
  const one = (key: string, negated: boolean) => unowned(reading.literal(reading.raw[key], reading.at(key), negated));
  if (reading.says('allOf')) for (const part of parts('allOf', true)) yield { work: [part] };
  if (reading.says('anyOf')) yield { work: parts('anyOf', true) };
  if (reading.says('oneOf')) {
    yield { work: parts('oneOf', true) };
    const all = reading.parts('oneOf');
    for (const [i, rivals] of rivalsOf(all, reading.context).entries())
      for (const j of rivals) if (j > i) yield { work: [unowned(all[i]!), unowned(all[j]!)] };
  }
  if (reading.says('not')) yield { work: [one('not', false)] };
  if (!reading.says('if')) return;
  if (reading.says('then')) yield { work: [one('if', false), one('then', true)] };
  if (reading.says('else')) yield { work: [one('if', true), one('else', true)] };
}

function* ofDependencies(reading: Reading): Iterable<Option> {
  const { names, schemas } = dependencies(reading.raw, reading.pointer);
  for (const [name, others] of names)
    for (const other of others)
      yield way(TYPES.object, (to) => {
        to.required.add(name);
        to.forbid(other, reading.never());
      });
  for (const [name, part, place] of schemas)
    yield way(TYPES.object, (to) => to.required.add(name), [unowned(reading.literal(part, place, true))]);
}
