// What the text of an answer must look like, in the four forms that engines understand. How a request's fields become
// one of them is services/constraint.ts; how it is enforced is each engine's business.

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
  | { readonly kind: 'structural_tag'; readonly source: string };
