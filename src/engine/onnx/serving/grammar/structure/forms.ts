// What a text looks like as a whole: terms and JSON values, one after the other, alternatively, repeated, and rules that may
// contain themselves. Constraints of all kinds become one form.
import type { Term } from '../lexemes/terms.ts';
import type { SchemaForms } from './schema-forms.ts';

export type Form =
  | { readonly kind: 'term'; readonly term: Term }
  | { readonly kind: 'json'; readonly json: JsonSyntax }
  | { readonly kind: 'sequence'; readonly parts: readonly Form[] }
  | { readonly kind: 'choice'; readonly options: readonly Form[] }
  | { readonly kind: 'repeat'; readonly of: Form; readonly min: number; readonly max: number }
  | { readonly kind: 'rule'; readonly rule: FormRule };

export interface FormRule {
  readonly name: string;
  /** Set once all rules have names. */
  form: Form | null;
}

/** The schemas of a JSON text, and its white space. */
export interface JsonSyntax {
  readonly forms: SchemaForms;
  /** Behind brackets and commas. */
  readonly gap: Term;
  /** Around colons. */
  readonly space: Term;
}
