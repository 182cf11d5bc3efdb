// The form of an obligation: which scalars, objects and arrays satisfy it. Each is computed when it is first asked for. Does not know
// which forms can be completed (satisfiable.ts).
import { textsTerm } from '../lexemes/characters.ts';
import type { Term, Terms } from '../lexemes/terms.ts';
import { Alternative, TYPES } from './alternatives.ts';
import { createApplier } from './apply.ts';
import type { SchemaDocument } from './document.ts';
import { Expansion } from './expansion.ts';
import type { Literals } from './literals.ts';
import type { Obligations } from './obligations.ts';
import { ScalarTerms } from './scalar-terms.ts';
import type { ArrayShape, ObjectShape, Obligation, ValueForm } from './shapes.ts';
import { createValueShapes, type ValueShapes } from './value-shapes.ts';
import type { Causes } from './causes.ts';

export interface ValueFormsOptions {
  readonly terms: Terms;
  readonly document: SchemaDocument;
  readonly literals: Literals;
  readonly obligations: Obligations;
  /** Objects have only the properties that their schema names, if it names any. */
  readonly strict: boolean;
  readonly causes: Causes;
  /** Counts a schema that is added to an alternative. */
  readonly spendStep: () => void;
}

export class ValueForms {
  private readonly options: ValueFormsOptions;
  private readonly applier;
  private readonly scalars: ScalarTerms;
  private readonly shapes: ValueShapes;
  private readonly expansion: Expansion;
  /** Forms that are being computed, so that a schema that contains itself is not entered again. */
  private readonly forming = new Set<Obligation>();

  constructor(options: ValueFormsOptions) {
    const { terms, document, literals, obligations, strict, causes, spendStep } = options;
    const obligationOf = obligations.of.bind(obligations);
    this.options = options;
    this.applier = createApplier({
      terms,
      document,
      literals,
      onDropped: (pointer) => causes.dropped(pointer),
      onNever: (pointer) => causes.never(pointer),
    });
    this.scalars = new ScalarTerms(terms, (reason) => causes.dropped('/multipleOf', reason));
    this.shapes = createValueShapes({
      terms,
      strict,
      anyString: this.scalars.anyString,
      obligationOf,
      stringsOf: (lits) => this.formOf(obligationOf(lits)).strings,
      spend: spendStep,
      never: literals.of(document.node(false, '', document.root.resource), false, []),
    });
    this.expansion = new Expansion({
      terms,
      literals,
      applier: this.applier,
      scalars: this.scalars,
      shapes: this.shapes,
      obligationOf,
      mayHold: (obligation) => this.mayHold(obligation),
      spendStep,
    });
  }

  formOf(obligation: Obligation): ValueForm {
    if (obligation.form) return obligation.form;
    this.forming.add(obligation);
    this.options.terms.spend(40);
    try {
      const alternatives: Alternative[] = [];
      this.expansion.addAlternatives(new Alternative(), obligation.lits, alternatives);
      return (obligation.form = this.join(alternatives.flatMap((each) => this.withoutListedParts(each))));
    } finally {
      this.forming.delete(obligation);
    }
  }

  /** Makes room. */
  forgetNumbers(): void {
    this.scalars.forgetNumbers();
  }

  private mayHold(obligation: Obligation): boolean {
    if (this.forming.has(obligation)) return true;
    const { scalars, objects, arrays } = this.formOf(obligation);
    return scalars !== this.options.terms.none || objects.length > 0 || arrays.length > 0;
  }

  /** Replaces listed objects and arrays by schemas of their parts. */
  private withoutListedParts(to: Alternative): Alternative[] {
    if (to.values === null) return [to];
    const { document, literals } = this.options;
    const out: Alternative[] = [];
    const isScalar = (value: unknown) => typeof value !== 'object' || value === null;
    const scalars = to.values.filter(isScalar);
    if (scalars.length > 0) {
      const copy = to.clone();
      copy.values = scalars;
      copy.only(TYPES.null | TYPES.boolean | TYPES.number | TYPES.string);
      out.push(copy);
    }
    for (const value of to.values) {
      if (isScalar(value)) continue;
      const copy = to.clone();
      copy.values = null;
      copy.unique = null; // already checked
      const node = this.applier.decomposed(value, document.root);
      this.expansion.addAlternatives(copy, [literals.of(node, false, [])], out);
    }
    return out;
  }

  /** The alternatives as one form. */
  private join(alternatives: readonly Alternative[]): ValueForm {
    const { terms } = this.options;
    const strings: Term[] = [];
    const others: Term[] = [];
    const objects: ObjectShape[] = [];
    const arrays: ArrayShape[] = [];
    for (const to of alternatives) {
      if (to.values !== null) {
        const texts = to.values.filter((value) => typeof value === 'string');
        if (texts.length > 0) strings.push(textsTerm(terms, texts, 'json'));
        others.push(this.scalars.words(to.values.filter((value) => typeof value !== 'string')));
        continue;
      }
      if (to.types & TYPES.null) others.push(terms.word('null'));
      if (to.types & TYPES.boolean) others.push(this.scalars.booleans(to));
      if (to.types & TYPES.number) addAlive(others, this.scalars.number(to), terms);
      if (to.types & TYPES.string) addAlive(strings, this.scalars.string(to), terms);
      if (to.types & TYPES.object) addShape(objects, this.shapes.objectShape(to));
      if (to.types & TYPES.array) addShape(arrays, this.shapes.arrayShape(to));
    }
    const body = terms.or(strings);
    return { strings: body, scalars: terms.or([...others, this.scalars.quoted(body)]), objects, arrays };
  }
}

function addAlive(to: Term[], term: Term, terms: Terms): void {
  if (terms.isAlive(term)) to.push(term);
}

function addShape<Shape>(to: Shape[], shape: Shape | null): void {
  if (shape) to.push(shape);
}
