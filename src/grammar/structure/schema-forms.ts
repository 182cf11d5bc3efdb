// Converts a schema into the forms of its values, only as far as they are needed. An obligation is a set of schemas that hold for one
// value; each is expanded into alternatives (expansion.ts), and each alternative into a term of scalars and shapes of objects and arrays
// (value-forms.ts). Then everything reachable is checked once for what can be satisfied.
import { TooComplex, type Terms } from '../lexemes/terms.ts';
import { Causes } from './causes.ts';
import { readDocument, type SchemaNode } from './document.ts';
import { createLiterals } from './literals.ts';
import { Obligations } from './obligations.ts';
import { refusal, type Json } from './refusal.ts';
import { markSatisfiable } from './satisfiable.ts';
import type { Obligation, ValueForm } from './shapes.ts';
import { uniqueForm } from './unique-items.ts';
import { ValueForms } from './value-forms.ts';

export interface SchemaForms {
  readonly root: Obligation;
  form(obligation: Obligation): ValueForm;
  /** The same obligation without these values (of the value itself, or of its property `key`). Checked for satisfiability as well. */
  except(obligation: Obligation, key: string | null, values: readonly unknown[]): Obligation;
}

const STEPS_MAX = 30_000; // schemas added to alternatives
const OBLIGATIONS_MAX = 30_000;
/** Made while texts are written, for items that must differ. What a text uses stays valid when more are forgotten. */
const EXCEPTIONS_KEPT = 10_000;

/** Throws `invalid_constraint`. */
export function createSchemaForms(terms: Terms, schema: unknown, strict: boolean): SchemaForms {
  const document = readDocument(schema, (units) => terms.spend(units));
  const literals = createLiterals(document.hasDynamicAnchors);
  const obligations = new Obligations(OBLIGATIONS_MAX);
  const causes = new Causes();
  let steps = 0;
  const spendStep = () => {
    if (++steps > STEPS_MAX) throw new TooComplex('its choices and conditions combine in too many ways');
    terms.spend(10);
  };
  const forms = new ValueForms({ terms, document, literals, obligations, strict, causes, spendStep });
  const formOf = (obligation: Obligation) => forms.formOf(obligation);

  /** The obligation, and this part of a schema as well. */
  function narrowed({ lits }: Obligation, part: SchemaNode['raw']): Obligation {
    const { pointer, resource } = document.root;
    return obligations.of([...lits, literals.of(document.node(part, pointer, resource), false, [])]);
  }

  /** Narrows items that must be unique to scalars, or to objects that differ in a key with many values. */
  function fitUniqueItems(): void {
    const only = (of: Obligation, part: Json) => [[{ value: narrowed(of, part), counted: [] }]];
    for (const { form } of obligations.all())
      for (const shape of form?.arrays ?? []) {
        if (shape.unique === null) continue;
        const narrower = uniqueForm(shape, { terms, formOf, only });
        if (narrower.unenforced !== null) causes.dropped(shape.unique.place, narrower.unenforced);
        Object.assign(shape, narrower.form);
      }
  }

  /** Marks what can be satisfied; refuses the schema if its root cannot. */
  function check(root: Obligation): void {
    markSatisfiable(root, terms, formOf);
    if (!root.possible) throw causes.refusal();
  }

  try {
    const root = obligations.of([literals.of(document.root, false, [document.root.resource])]);
    check(root);
    fitUniqueItems();
    for (const obligation of obligations.all()) obligation.possible = false;
    check(root);
    const [literalCount, obligationCount] = [literals.count, obligations.count];
    obligations.limit(obligationCount + 2 * EXCEPTIONS_KEPT);
    return {
      root,
      form: formOf,
      except(obligation, key, values) {
        steps = 0;
        if (obligations.count > obligationCount + EXCEPTIONS_KEPT) {
          literals.keep(literalCount);
          obligations.keep(obligationCount);
          forms.forgetNumbers();
        }
        const others = { not: { enum: values } };
        const made = narrowed(obligation, key === null ? others : { properties: { [key]: others } });
        markSatisfiable(made, terms, formOf);
        return made;
      },
    };
  } catch (error) {
    if (error instanceof RangeError) throw refusal('', 'it is nested too deeply');
    if (error instanceof TooComplex) throw refusal('', error.message);
    throw error;
  }
}
