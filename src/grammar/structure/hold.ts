// Adds what a schema says to an alternative for which it must hold, vocabulary by vocabulary. Schemas that apply to the same value
// (allOf, $ref, …) become work; alternatives (anyOf, …) become choices.
import { patternOfFormat } from '../lexemes/formats.ts';
import { TYPES, type Alternative, type Owners } from './alternatives.ts';
import { rivalsOf } from './disjoint.ts';
import { bounds, dependencies, isEqual, itemsOf, stepOf, typesOf, valuesOf } from './keyword-values.ts';
import type { Choice, Reading, Work } from './reading.ts';
import { countOf, namesOf, refusal } from './refusal.ts';

/** Later drafts have other names for these, and other readers may enforce them. */
const OF_DRAFT_3 = ['divisibleBy', 'disallow', 'extends'];

/** Returns the remaining work and choices. */
export function hold(reading: Reading, to: Alternative, outer: Owners): { work: Work[]; choices: Choice[] } {
  const old = OF_DRAFT_3.find((key) => reading.says(key));
  if (old) throw refusal(reading.at(old), `\`${old}\` is a keyword of draft 3, which is not supported`);
  const owners = holdUnevaluated(reading, to, outer);
  holdValues(reading, to);
  holdNumbers(reading, to);
  holdStrings(reading, to);
  holdObjects(reading, to, owners);
  holdArrays(reading, to, owners);
  const work = [...referred(reading, owners), ...conjunction(reading, owners)];
  const choices = [...disjunctions(reading, owners), ...holdDependencies(reading, to, owners)];
  return { work, choices };
}

/** Returns the owners that take what this schema evaluates into account. */
function holdUnevaluated(reading: Reading, to: Alternative, outer: Owners): Owners {
  let owners = outer;
  for (const key of ['unevaluatedProperties', 'unevaluatedItems'] as const) {
    if (!reading.says(key)) continue;
    const owner = reading.context.newOwner();
    owners = [...owners, owner];
    to[key].push({ lit: reading.literal(reading.raw[key], reading.at(key)), owner });
    if (key === 'unevaluatedProperties') to.open = true;
  }
  return owners;
}

function holdValues({ raw, pointer, context }: Reading, to: Alternative): void {
  const types = typesOf(raw, pointer);
  if (types) {
    to.only(types.types);
    if (types.integer) to.integer(true);
  }
  const values = valuesOf(raw, pointer);
  if (values === null) return;
  if (to.values !== null) context.spend(to.values.length * values.length);
  to.values = to.values?.filter((value) => values.some((other) => isEqual(value, other))) ?? values;
}

function holdNumbers({ raw, pointer }: Reading, to: Alternative): void {
  for (const { value, inclusive, isLow } of bounds(raw, pointer)) to.bound(value, inclusive, isLow);
  const step = stepOf(raw, pointer);
  if (step !== null && !to.isTrial) to.number = { ...to.number, multiples: [...to.number.multiples, step] };
}

/** Raises the minimum of lengths, properties or items, and lowers the maximum. */
function holdCounts({ raw, pointer }: Reading, to: Alternative, counted: 'Length' | 'Properties' | 'Items'): void {
  to.atLeast(`min${counted}`, countOf(raw, `min${counted}`, pointer) ?? 0);
  to.atMost(`max${counted}`, countOf(raw, `max${counted}`, pointer) ?? Infinity);
}

function holdStrings(reading: Reading, to: Alternative): void {
  const { raw, context } = reading;
  holdCounts(reading, to, 'Length');
  if (raw.pattern !== undefined) {
    if (typeof raw.pattern !== 'string') throw refusal(reading.at('pattern'), 'the value must be a string');
    to.strings.push(context.pattern(raw.pattern, reading.at('pattern')));
  }
  const format = typeof raw.format === 'string' ? patternOfFormat(raw.format) : null;
  if (format !== null && !to.isTrial) to.strings.push(context.pattern(format, reading.at('format')));
}

function holdObjects(reading: Reading, to: Alternative, owners: Owners): void {
  const { raw } = reading;
  holdProperties(reading, to, owners);
  if (typeof raw.required === 'boolean') throw refusal(reading.at('required'), 'the value must be a list of names');
  for (const name of namesOf(raw.required, reading.at('required'))) to.required.add(name);
  if (reading.says('propertyNames')) to.names.push(reading.literal(raw.propertyNames, reading.at('propertyNames')));
  holdCounts(reading, to, 'Properties');
}

function holdProperties(reading: Reading, to: Alternative, owners: Owners): void {
  const { raw, context } = reading;
  const [isNamed, hasPatterns] = [reading.says('properties'), reading.says('patternProperties')];
  const hasRest = reading.says('additionalProperties');
  if (!isNamed && !hasPatterns && !hasRest) return;
  const [properties, patterns] = [reading.named('properties'), reading.named('patternProperties')];
  to.objects.push({
    properties: new Map(
      properties.map(([name, part]) => [name, reading.literal(part, reading.at('properties', name))]),
    ),
    patterns: patterns.map(([source, part]) => {
      const place = reading.at('patternProperties', source);
      return { key: context.pattern(source, place), lit: reading.literal(part, place) };
    }),
    additional: hasRest ? reading.literal(raw.additionalProperties, reading.at('additionalProperties')) : null,
    owners,
  });
  if (isNamed) to.named = true;
  if (hasRest || hasPatterns) to.open = true;
}

function holdArrays(reading: Reading, to: Alternative, owners: Owners): void {
  const { raw, pointer, context } = reading;
  const { prefix, prefixKey, rest, restKey } = itemsOf(raw, pointer);
  if (prefix.length > 0 || rest !== undefined)
    to.arrays.push({
      prefix: prefix.map((part, i) => reading.literal(part, reading.at(prefixKey, i))),
      rest: rest === undefined ? null : reading.literal(rest, reading.at(restKey)),
      owners,
    });
  holdCounts(reading, to, 'Items');
  if (reading.says('contains')) {
    const lit = reading.literal(raw.contains, reading.at('contains'));
    const min = countOf(raw, 'minContains', pointer) ?? 1;
    const max = countOf(raw, 'maxContains', pointer) ?? Infinity;
    if (min > 0 || max < Infinity) to.contains.push({ lit, opposite: context.literals.opposite(lit), min, max });
  }
  if (reading.says('uniqueItems') && typeof raw.uniqueItems !== 'boolean')
    throw refusal(reading.at('uniqueItems'), 'the value must be true or false');
  if (raw.uniqueItems === true) to.unique ??= reading.at('uniqueItems');
}

function* referred(reading: Reading, owners: Owners): Iterable<Work> {
  for (const key of ['$dynamicRef', '$ref', '$recursiveRef'] as const) {
    const reference = reading.raw[key];
    if (reference === undefined) continue;
    if (typeof reference !== 'string') throw refusal(reading.at(key), 'the value must be a string');
    if (key === '$recursiveRef') throw refusal(reading.at(key), '`$recursiveRef` is not supported');
    yield { lit: reading.referred(key, reference, false), owners };
  }
}

function* conjunction(reading: Reading, owners: Owners): Iterable<Work> {
  if (reading.says('allOf')) for (const lit of reading.parts('allOf')) yield { lit, owners };
  if (reading.says('not')) yield { lit: reading.literal(reading.raw.not, reading.at('not'), true), owners: [] };
}

function* disjunctions(reading: Reading, owners: Owners): Iterable<Choice> {
  const work = (part: string, negated = false): Work => ({
    lit: reading.literal(reading.raw[part], reading.at(part), negated),
    owners,
  });
  if (reading.says('anyOf')) yield { options: reading.parts('anyOf').map((lit) => ({ work: [{ lit, owners }] })) };
  if (reading.says('oneOf')) {
    const parts = reading.parts('oneOf');
    const rivals = rivalsOf(parts, reading.context);
    yield {
      options: parts.map((lit, i) => ({
        work: [{ lit, owners }],
        ...(rivals[i]!.length > 0 && { excluding: rivals[i]!.map((other) => parts[other]!) }),
      })),
    };
  }
  const [isThen, isElse] = [reading.says('then'), reading.says('else')];
  if (!reading.says('if') || (!isThen && !isElse)) return;
  yield {
    options: [
      { work: [work('if'), ...(isThen ? [work('then')] : [])] },
      { work: [work('if', true), ...(isElse ? [work('else')] : [])] },
    ],
  };
}

function* holdDependencies(reading: Reading, to: Alternative, owners: Owners): Iterable<Choice> {
  const { names, schemas } = dependencies(reading.raw, reading.pointer);
  for (const [name, others] of names) to.dependent.set(name, new Set([...(to.dependent.get(name) ?? []), ...others]));
  for (const [name, part, place] of schemas)
    yield {
      options: [
        { work: [], atom: (alternative) => alternative.forbid(name, reading.never()) },
        { work: [{ lit: reading.literal(part, place), owners }], atom: (alternative) => present(alternative, name) },
      ],
    };
}

/** The value is an object that has this property, if it can be an object at all. */
function present(to: Alternative, name: string): void {
  if (to.types & TYPES.object) to.required.add(name);
  to.only(TYPES.object);
}
