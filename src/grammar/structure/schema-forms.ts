// Converts a schema into the forms of its values, only as far as they are needed. An obligation is a set of schemas that hold for one
// value; each is expanded into alternatives (apply.ts), and each alternative into a term of scalars and shapes of objects and arrays.
// Then everything reachable is checked once for what can be satisfied: a recogniser must never start what cannot be completed.
import { stringifyExactJson } from '#base/exact-json';
import { ANY, anyText, characterTerm, textsTerm } from '../lexemes/characters.ts';
import { conforms, numberTerm, type JsonNumber } from '../lexemes/numbers.ts';
import { TooComplex, type Term, type Terms } from '../lexemes/terms.ts';
import { Alternative, TYPES } from './alternatives.ts';
import { createApplier } from './apply.ts';
import { readDocument } from './document.ts';
import { hasTwins, isNarrowed } from './keyword-values.ts';
import { createLiterals, keepFirst, type Lit } from './literals.ts';
import { arrayFeasible, objectFeasible } from './feasible.ts';
import type { Choice, Work } from './reading.ts';
import { refusal, typeOf } from './refusal.ts';
import { uniqueForm } from './unique-items.ts';
import { createValueShapes } from './value-shapes.ts';
import type { ArrayShape, ItemChoice, ObjectShape, Obligation, ValueForm } from './shapes.ts';

export interface SchemaForms {
  readonly root: Obligation;
  form(obligation: Obligation): ValueForm;
  /** The same obligation without these values (of the value itself, or of its property `key`). Checked for satisfiability as well. */
  except(obligation: Obligation, key: string | null, values: readonly unknown[]): Obligation;
}

const STEPS_MAX = 30_000; // schemas added to alternatives
const ALTERNATIVES_MAX = 2_000; // for one value
const OBLIGATIONS_MAX = 30_000;
const GUESS_DEPTH = 4;
/** Made while texts are written, for items that must differ. What a text uses stays valid when more are forgotten. */
const EXCEPTIONS_KEPT = 10_000;

/** Throws `invalid_constraint`. */
export function createSchemaForms(terms: Terms, schema: unknown, strict: boolean): SchemaForms {
  const document = readDocument(schema, (units) => terms.spend(units));
  const literals = createLiterals(document.hasDynamicAnchors);
  const dropped: string[] = [];
  const applier = createApplier({
    terms,
    document,
    literals,
    onDropped: (pointer) => dropped.push(pointer),
    onNever: (pointer) => nevers.push(pointer),
  });
  const nevers: string[] = [];
  const obligations = new Map<string, Obligation>();
  let lastObligation = 0;
  let obligationsMax = OBLIGATIONS_MAX;
  const character = characterTerm(terms, ANY, 'json');
  const anyString = anyText(terms, 'json');
  const quote = terms.word('"');
  let steps = 0;
  const forming = new Set<Obligation>();
  const { valueOf, itemAt, objectShape, arrayShape } = createValueShapes({
    terms,
    strict,
    anyString,
    obligationOf,
    stringsOf: (lits) => formOf(obligationOf(lits)).strings,
    spend,
    never: literals.of(document.node(false, '', document.root.resource), false, []),
  });

  function obligationOf(given: readonly Lit[]): Obligation {
    const lits = [...new Set(given)].filter(({ node, negated }) => node.raw !== !negated).sort((a, b) => a.id - b.id);
    const key = lits.map(({ id }) => id).join();
    const found = obligations.get(key);
    if (found) return found;
    if (obligations.size >= obligationsMax) throw new TooComplex('too many of its schemas apply to the same value');
    const made: Obligation = { id: lastObligation++, lits, form: null, possible: false };
    obligations.set(key, made);
    return made;
  }

  function spend(): void {
    if (++steps > STEPS_MAX) throw new TooComplex('its choices and conditions combine in too many ways');
    terms.spend(10);
  }

  /** Collects all alternatives in which the work holds. */
  function expand(
    alternative: Alternative,
    work: Work[],
    choices: readonly Choice[],
    guess: number,
    out: Alternative[],
  ): void {
    const open = [...choices];
    while (work.length > 0) {
      spend();
      const added = applier.apply(work.pop()!, alternative);
      work.push(...added.work);
      open.push(...added.choices);
      if (added.choices.some(({ options }) => options.length === 0)) return;
    }
    reduce(alternative, guess);
    if (alternative.types === 0) return;
    if (open.length === 0) {
      if (out.push(alternative) > ALTERNATIVES_MAX)
        throw new TooComplex('its choices and conditions combine in too many ways');
      return;
    }
    const next = open.reduce((a, b) => (b.options.length < a.options.length ? b : a));
    const others = open.filter((each) => each !== next);
    for (const { work: parts, atom, excluding } of next.options) {
      spend();
      terms.spend(alternative.size);
      const copy = next.options.length === 1 ? alternative : alternative.clone();
      atom?.(copy);
      if (!excluding) expand(copy, [...parts], others, guess, out);
      else {
        const chosen: Alternative[] = [];
        expand(copy, [...parts], [], guess, chosen);
        for (const each of chosen) {
          const breaking = excluding.filter((lit) => !excludes(each, lit, guess));
          expand(
            each,
            breaking.map((lit) => ({ lit: literals.opposite(lit), owners: [] })),
            others,
            guess,
            out,
          );
        }
      }
    }
  }

  /** Whether the schema certainly contradicts the rest. */
  function excludes(alternative: Alternative, lit: Lit, guess: number): boolean {
    const both: Alternative[] = [];
    terms.spend(alternative.size);
    const trial = Object.assign(alternative.clone(), { isTrial: true });
    expand(trial, [{ lit, owners: [] }], [], guess, both);
    return both.length === 0;
  }

  /** Removes the types that no value can satisfy, as far as that is cheap to see. */
  function reduce(to: Alternative, guess: number): void {
    const without = (type: number) => (to.types &= ~type);
    if (to.values !== null) {
      terms.spend(to.values.length * (1 + to.notStrings.length / 64));
      to.values = to.values.filter((value) => isPossibleValue(to, value));
      let types = 0;
      for (const value of to.values) types |= TYPES[typeOf(value)];
      to.types &= types;
    }
    if (to.booleans === 0) without(TYPES.boolean);
    if (to.types & TYPES.string && to.values === null) {
      if (to.minLength > to.maxLength) without(TYPES.string);
      else if (to.strings.length + to.notStrings.length > 0 && !terms.isAlive(stringTerm(to))) without(TYPES.string);
    }
    if (to.types & TYPES.object) {
      if (to.minProperties > to.maxProperties || to.required.size > to.maxProperties) without(TYPES.object);
      else if (guess > 0)
        for (const name of to.required)
          if (!mayBe(valueOf(to, name, false), guess - 1, to.isTrial)) {
            without(TYPES.object);
            break;
          }
    }
    if (to.types & TYPES.array) {
      if (to.minItems > to.maxItems) without(TYPES.array);
      else if (guess > 0)
        for (let i = 0; i < Math.min(to.minItems, 8); i++)
          if (!mayBe(obligationOf(itemAt(to, i, false)), guess - 1, to.isTrial)) {
            without(TYPES.array);
            break;
          }
    }
  }

  function mayBe(obligation: Obligation, guess: number, isTrial: boolean): boolean {
    if (isTrial && obligation.lits.some(({ node }) => isNarrowed(node.raw))) return true;
    if (obligation.possible) return true;
    if (guess <= 0 || forming.has(obligation)) return true;
    const { scalars, objects, arrays } = formOf(obligation);
    return scalars !== terms.none || objects.length > 0 || arrays.length > 0;
  }

  function isPossibleValue(to: Alternative, value: unknown): boolean {
    const type = typeOf(value);
    if ((to.types & TYPES[type]) === 0) return false;
    if (typeof value === 'boolean') return ((to.booleans >> (value ? 1 : 0)) & 1) === 1;
    if (typeof value === 'string') return isPossibleString(to, value);
    if (type === 'number') return conforms(to.number, value as JsonNumber);
    if (!to.unique || !Array.isArray(value)) return true;
    terms.spend(value.length ** 2 / 16);
    return !hasTwins(value);
  }

  function isPossibleString(to: Alternative, value: string): boolean {
    const length = to.minLength > 0 || to.maxLength < Infinity ? Array.from(value).length : 0;
    if (length < to.minLength && to.minLength > 0) return false;
    if (length > to.maxLength || to.notStrings.includes(value)) return false;
    const bytes = Buffer.from(JSON.stringify(value).slice(1, -1));
    return to.strings.every((term) => terms.matches(term, bytes));
  }

  /** The characters between the quotes. */
  function stringTerm(to: Alternative): Term {
    const isFree = to.minLength === 0 && to.maxLength === Infinity;
    const parts = [...to.strings];
    if (!isFree || parts.length === 0)
      parts.push(isFree ? anyString : terms.repeat(character, to.minLength, to.maxLength));
    if (to.notStrings.length > 0) parts.push(terms.not(textsTerm(terms, to.notStrings, 'json')));
    return terms.and(parts);
  }

  function formOf(obligation: Obligation): ValueForm {
    if (obligation.form) return obligation.form;
    forming.add(obligation);
    terms.spend(40);
    try {
      const alternatives: Alternative[] = [];
      const work = obligation.lits.map((lit) => ({ lit, owners: [] }));
      expand(new Alternative(), work, [], GUESS_DEPTH, alternatives);
      return (obligation.form = written(alternatives.flatMap(withValues)));
    } finally {
      forming.delete(obligation);
    }
  }

  /** Replaces listed objects and arrays by schemas of their parts. */
  function withValues(to: Alternative): Alternative[] {
    if (to.values === null) return [to];
    const out: Alternative[] = [];
    const scalars = to.values.filter((value) => typeof value !== 'object' || value === null);
    if (scalars.length > 0) {
      const copy = to.clone();
      copy.values = scalars;
      copy.only(TYPES.null | TYPES.boolean | TYPES.number | TYPES.string);
      out.push(copy);
    }
    for (const value of to.values) {
      if (typeof value !== 'object' || value === null) continue;
      const copy = to.clone();
      copy.values = null;
      copy.unique = false; // already checked
      const node = applier.decomposed(value, document.root);
      expand(copy, [{ lit: literals.of(node, false, []), owners: [] }], [], GUESS_DEPTH, out);
    }
    return out;
  }

  function written(alternatives: readonly Alternative[]): ValueForm {
    const strings: Term[] = [];
    const others: Term[] = [];
    const objects: ObjectShape[] = [];
    const arrays: ArrayShape[] = [];
    for (const to of alternatives) {
      if (to.values !== null) {
        const texts = to.values.filter((value) => typeof value === 'string');
        if (texts.length > 0) strings.push(textsTerm(terms, texts, 'json'));
        others.push(
          terms.words(
            to.values
              .filter((value) => typeof value !== 'string')
              .map((value) => (Object.is(value, -0) ? '0' : stringifyExactJson(value))),
          ),
        );
        continue;
      }
      if (to.types & TYPES.null) others.push(terms.word('null'));
      if (to.types & TYPES.boolean)
        others.push(terms.words([...(to.booleans & 1 ? ['false'] : []), ...(to.booleans & 2 ? ['true'] : [])]));
      if (to.types & TYPES.number) {
        const term = numbers(to);
        if (terms.isAlive(term)) others.push(term);
      }
      if (to.types & TYPES.string) {
        const term = stringTerm(to);
        if (terms.isAlive(term)) strings.push(term);
      }
      if (to.types & TYPES.object) {
        const shape = objectShape(to);
        if (shape) objects.push(shape);
      }
      if (to.types & TYPES.array) {
        const shape = arrayShape(to);
        if (shape) arrays.push(shape);
      }
    }
    const body = terms.or(strings);
    return { strings: body, scalars: terms.or([...others, terms.concat(quote, body, quote)]), objects, arrays };
  }

  const numberTerms = new Map<string, Term>();
  function numbers(to: Alternative): Term {
    terms.spend(5 + to.number.not.length);
    const key = stringifyExactJson([to.number, [to.number.not.map(String)]]);
    const known = numberTerms.get(key);
    if (known) return known;
    try {
      const term = numberTerm(terms, to.number);
      numberTerms.set(key, term);
      return term;
    } catch (error) {
      if (error instanceof TooComplex) throw error;
      dropped.push(`${stepPlace()}`);
      reasons.set(stepPlace(), error instanceof Error ? error.message : String(error));
      return terms.none;
    }
  }
  const reasons = new Map<string, string>();
  const stepPlace = () => '/multipleOf';

  /** Visits everything reachable from the start, and computes what can be satisfied, as a least fixpoint. */
  function look(start: Obligation): void {
    const seen = new Set<Obligation>([start]);
    const list: Obligation[] = [];
    for (const obligation of seen) {
      if (obligation.possible) continue;
      list.push(obligation);
      const { objects, arrays } = formOf(obligation);
      for (const shape of objects) {
        for (const { value } of shape.keys) seen.add(value);
        for (const { value } of shape.classes) seen.add(value);
      }
      for (const shape of arrays) for (const choices of shape.items) for (const { value } of choices) seen.add(value);
    }
    for (let changed = true; changed;) {
      changed = false;
      for (const obligation of list.reverse()) {
        if (obligation.possible) continue;
        const { scalars, objects, arrays } = obligation.form!;
        terms.spend(1 + objects.reduce((sum, { keys }) => sum + keys.length, 0) / 8);
        const isPossible =
          scalars !== terms.none ||
          objects.some((shape) => objectFeasible(shape)) ||
          arrays.some((shape) => arrayFeasible(shape));
        if (isPossible) changed = obligation.possible = true;
      }
    }
  }

  /** Narrows items that must be unique to scalars, or to objects that differ in a key with many values. Drops other items. */
  function fitUnique(): void {
    for (const obligation of obligations.values()) {
      const form = obligation.form;
      if (!form) continue;
      for (const shape of form.arrays)
        if (shape.unique) Object.assign(shape, uniqueForm(shape, { terms, formOf, only }));
    }
  }

  function only({ lits }: Obligation, type: readonly string[]): ItemChoice[][] {
    const { pointer, resource } = document.root;
    const node = document.node({ type }, pointer, resource);
    return [[{ value: obligationOf([...lits, literals.of(node, false, [])]), counted: [] }]];
  }

  function refuse(): never {
    const place = dropped[0];
    if (place === undefined) throw refusal(nevers[0] ?? '', 'no value satisfies the schema');
    throw refusal(place, `${reasons.get(place) ?? `\`${place.split('/').at(-1)}\` cannot be enforced here`}`);
  }

  try {
    const root = obligationOf([literals.of(document.root, false, [document.root.resource])]);
    look(root);
    if (!root.possible) refuse();
    fitUnique();
    for (const obligation of obligations.values()) obligation.possible = false;
    look(root);
    if (!root.possible) refuse();
    const [literalCount, obligationCount] = [literals.count, obligations.size];
    obligationsMax = obligationCount + 2 * EXCEPTIONS_KEPT;
    return {
      root,
      form: formOf,
      except(obligation, key, values) {
        steps = 0;
        if (obligations.size > obligationCount + EXCEPTIONS_KEPT) {
          literals.keep(literalCount);
          keepFirst(obligations, obligationCount);
          numberTerms.clear();
        }
        const raw = key === null ? { not: { enum: values } } : { properties: { [key]: { not: { enum: values } } } };
        const node = document.node(raw, document.root.pointer, document.root.resource);
        const made = obligationOf([...obligation.lits, literals.of(node, false, [])]);
        look(made);
        return made;
      },
    };
  } catch (error) {
    if (error instanceof RangeError) throw refusal('', 'it is nested too deeply');
    if (error instanceof TooComplex) throw refusal('', error.message);
    throw error;
  }
}
