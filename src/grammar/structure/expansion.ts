// Expands schemas that hold for one value into alternatives: adds one schema after another, and takes every option of the choices
// between them. Alternatives that no value can satisfy are dropped as far as that is cheap to see.
import { TooComplex, type Terms } from '../lexemes/terms.ts';
import { TYPES, type Alternative } from './alternatives.ts';
import type { Applier } from './apply.ts';
import { isNarrowed } from './keyword-values.ts';
import type { Lit, Literals } from './literals.ts';
import type { Choice, Work } from './reading.ts';
import { typeOf } from './refusal.ts';
import type { ScalarTerms } from './scalar-terms.ts';
import type { Obligation } from './shapes.ts';
import type { ValueShapes } from './value-shapes.ts';

const ALTERNATIVES_MAX = 2_000; // for one value
const GUESS_DEPTH = 4;
const ITEMS_GUESSED = 8; // of an array, its first ones

export interface ExpansionOptions {
  readonly terms: Terms;
  readonly literals: Literals;
  readonly applier: Applier;
  readonly scalars: ScalarTerms;
  readonly shapes: ValueShapes;
  readonly obligationOf: (lits: readonly Lit[]) => Obligation;
  /** Whether some value may satisfy it: false only if its form is known to be empty. */
  readonly mayHold: (obligation: Obligation) => boolean;
  /** Counts a schema that is added to an alternative. */
  readonly spendStep: () => void;
}

export class Expansion {
  private readonly options: ExpansionOptions;

  constructor(options: ExpansionOptions) {
    this.options = options;
  }

  /** Adds all alternatives in which the schemas hold to `out`. Changes the one it begins with. */
  addAlternatives(start: Alternative, lits: readonly Lit[], out: Alternative[]): void {
    this.expand(start, withoutOwners(lits), [], GUESS_DEPTH, out);
  }

  private expand(
    alternative: Alternative,
    work: Work[],
    choices: readonly Choice[],
    guess: number,
    out: Alternative[],
  ): void {
    const { terms, applier, literals, spendStep } = this.options;
    const open = [...choices];
    while (work.length > 0) {
      spendStep();
      const added = applier.apply(work.pop()!, alternative);
      for (const each of added.work) work.push(each);
      for (const each of added.choices) open.push(each);
      if (added.choices.some(({ options }) => options.length === 0)) return;
    }
    this.reduce(alternative, guess);
    if (alternative.types === 0) return;
    if (open.length === 0) {
      if (out.push(alternative) > ALTERNATIVES_MAX)
        throw new TooComplex('its choices and conditions combine in too many ways');
      return;
    }
    const next = open.reduce((a, b) => (b.options.length < a.options.length ? b : a));
    const others = open.filter((each) => each !== next);
    for (const { work: parts, atom, excluding } of next.options) {
      spendStep();
      terms.spend(alternative.size);
      const copy = next.options.length === 1 ? alternative : alternative.clone();
      atom?.(copy);
      if (!excluding) {
        this.expand(copy, [...parts], others, guess, out);
        continue;
      }
      const chosen: Alternative[] = [];
      this.expand(copy, [...parts], [], guess, chosen);
      for (const each of chosen) {
        const breaking = excluding.filter((lit) => !this.excludes(each, lit, guess));
        const opposites = breaking.map((lit) => literals.opposite(lit));
        this.expand(each, withoutOwners(opposites), others, guess, out);
      }
    }
  }

  /** Whether the schema certainly contradicts the rest. */
  private excludes(alternative: Alternative, lit: Lit, guess: number): boolean {
    const both: Alternative[] = [];
    this.options.terms.spend(alternative.size);
    const trial = Object.assign(alternative.clone(), { isTrial: true });
    this.expand(trial, withoutOwners([lit]), [], guess, both);
    return both.length === 0;
  }

  /** Removes the types that no value can satisfy, as far as that is cheap to see. */
  private reduce(to: Alternative, guess: number): void {
    const { terms, scalars } = this.options;
    if (to.values !== null) {
      terms.spend(to.values.length * (1 + to.notStrings.length / 64));
      to.values = to.values.filter((value) => scalars.allows(to, value));
      let types = 0;
      for (const value of to.values) types |= TYPES[typeOf(value)];
      to.types &= types;
    }
    if (to.booleans === 0) to.without(TYPES.boolean);
    if (to.types & TYPES.string && to.values === null && !scalars.hasString(to)) to.without(TYPES.string);
    if (to.types & TYPES.object && !this.mayBeObject(to, guess)) to.without(TYPES.object);
    if (to.types & TYPES.array && !this.mayBeArray(to, guess)) to.without(TYPES.array);
  }

  private mayBeObject(to: Alternative, guess: number): boolean {
    const { shapes } = this.options;
    if (to.minProperties > to.maxProperties || to.required.size > to.maxProperties) return false;
    if (guess <= 0) return true;
    for (const name of to.required)
      if (!this.mayBe(shapes.valueOf(to, name, false), guess - 1, to.isTrial)) return false;
    return true;
  }

  private mayBeArray(to: Alternative, guess: number): boolean {
    const { shapes, obligationOf } = this.options;
    if (to.minItems > to.maxItems) return false;
    if (guess <= 0) return true;
    for (let i = 0; i < Math.min(to.minItems, ITEMS_GUESSED); i++)
      if (!this.mayBe(obligationOf(shapes.itemAt(to, i, false)), guess - 1, to.isTrial)) return false;
    return true;
  }

  private mayBe(obligation: Obligation, guess: number, isTrial: boolean): boolean {
    if (isTrial && obligation.lits.some(({ node }) => isNarrowed(node.raw))) return true;
    return obligation.possible || guess <= 0 || this.options.mayHold(obligation);
  }
}

const withoutOwners = (lits: readonly Lit[]): Work[] => lits.map((lit) => ({ lit, owners: [] }));
