// What the text of an answer must look like, in the forms that engines understand. How a request's fields become
// one of them is services/constraint.ts; how it is enforced is each engine's business.

export const CONSTRAINT_KINDS = [
  'json_schema',
  'regex',
  'ebnf',
  'structural_tag',
  'either',
] as const satisfies readonly Constraint['kind'][];
export type ConstraintKind = Constraint['kind'];

export type Constraint =
  | {
      readonly kind: 'json_schema';
      /** JSON text of the schema. */
      readonly source: string;
      /** False: compact JSON, no white space between tokens. */
      readonly anyWhitespace: boolean;
      /** A regular expression for the white space instead; null: any. */
      readonly whitespacePattern: string | null;
      /** Objects have the properties that their schema names, if it names some, and no others unless it says so. */
      readonly strict: boolean;
    }
  /** The whole text matches. */
  | { readonly kind: 'regex'; readonly source: string }
  /** GBNF: rules `name ::= …`, beginning with `root`. */
  | { readonly kind: 'ebnf'; readonly source: string }
  /** JSON text of a structural tag, in its newer form `{"type":"structural_tag","format":{…}}`. */
  | { readonly kind: 'structural_tag'; readonly source: string }
  /** JSON text of a list of constraints: the text keeps to one of them. Structural tags in it are `tags_with_separator`. */
  | { readonly kind: 'either'; readonly source: string };
