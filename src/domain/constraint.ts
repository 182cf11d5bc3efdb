// What the text of an answer must look like, in forms that engines understand. api/chat/structured-output.ts turns request fields into one
// of these; each engine decides how to enforce it.

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
      /** False: compact JSON without white space between tokens. */
      readonly anyWhitespace: boolean;
      /** A regular expression that white space must match; null: any white space. */
      readonly whitespacePattern: string | null;
      /** True: objects have only the properties that their schema names, if it names any, unless the schema allows others. */
      readonly strict: boolean;
    }
  /** The whole text matches. */
  | { readonly kind: 'regex'; readonly source: string }
  /** GBNF: rules `name ::= …`, beginning with `root`. */
  | { readonly kind: 'ebnf'; readonly source: string }
  /** JSON text of a structural tag, in its newer form `{"type":"structural_tag","format":{…}}`. */
  | { readonly kind: 'structural_tag'; readonly source: string }
  /** JSON text of a list of constraints; the answer satisfies one of them. Structural tags among them use `tags_with_separator`. */
  | { readonly kind: 'either'; readonly source: string };
