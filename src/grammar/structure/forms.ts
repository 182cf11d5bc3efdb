// The structure of a whole text: terms and JSON values in sequence, as alternatives, or repeated, and rules that may be recursive.
// Constraints of all kinds become a form.
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
  /** Null until the names of all rules are known. */
  form: Form | null;
}

/** The schemas of a JSON text, and its white space. */
export interface JsonSyntax {
  readonly forms: SchemaForms;
  /** After brackets and commas. */
  readonly gap: Term;
  /** Around colons. */
  readonly space: Term;
}
