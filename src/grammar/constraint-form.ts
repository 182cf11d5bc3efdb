// Converts the constraints that clients send into forms of the engine: schemas, expressions, grammars in GBNF and Lark, structural
// tags, and alternatives of these. Throws `invalid_constraint` with the reason.
import { parseExactJson } from '#base/exact-json';
import type { Constraint } from '#domain/constraint';
import { AppError } from '#domain/errors';
import { readGbnf } from './gbnf-reader.ts';
import { isLark, larkToGbnf } from './lark.ts';
import { patternTerm } from './lexemes/pattern.ts';
import { expressionTerm } from './lexemes/expression-term.ts';
import type { Term, Terms } from './lexemes/terms.ts';
import { TooComplex } from './lexemes/terms.ts';
import { grammarForm } from './structure/grammar-form.ts';
import type { Form } from './structure/forms.ts';
import { refusal } from './structure/refusal.ts';
import { createSchemaForms } from './structure/schema-forms.ts';
import { tagForm } from './structure/tag-form.ts';

export interface SchemaOptions {
  /** False: compact JSON. */
  readonly anyWhitespace: boolean;
  /** A regular expression for the white space; null: the usual white space of formatted JSON. */
  readonly whitespacePattern: string | null;
  /** Objects allow only the properties that their schema names, if it names any and does not mention others. */
  readonly strict: boolean;
}

export function constraintForm(terms: Terms, constraint: Constraint): Form {
  const { kind, source } = constraint;
  switch (kind) {
    case 'json_schema':
      return schemaForm(terms, parseJson(constraint), constraint);
    case 'regex':
      return orRefuse(kind, () => regexForm(terms, source));
    case 'ebnf':
      return orRefuse(kind, () => ebnfForm(terms, source));
    case 'structural_tag':
      return orRefuse(kind, () =>
        tagForm(terms, parseJson(constraint), {
          schema: (schema) => schemaForm(terms, schema, INSIDE_TAGS),
          regex: (pattern) => orRefuse('regex', () => regexForm(terms, pattern)),
          grammar: (grammar) => orRefuse('ebnf', () => ebnfForm(terms, grammar)),
        }),
      );
    case 'either':
      return {
        kind: 'choice',
        options: (parseJson(constraint) as readonly Constraint[]).map((each) => constraintForm(terms, each)),
      };
  }
}

const INSIDE_TAGS: SchemaOptions = { anyWhitespace: true, whitespacePattern: null, strict: false };

function schemaForm(terms: Terms, schema: unknown, { anyWhitespace, whitespacePattern, strict }: SchemaOptions): Form {
  const { gap, space } = spaces(terms, anyWhitespace, whitespacePattern);
  return { kind: 'json', json: { forms: createSchemaForms(terms, schema, strict), gap, space } };
}

/** White space is limited: a model that is unsure would otherwise write blanks until it is cut off. */
const GAP = '(" " | "\\n" ([ ]{1,64} | [\\t]{1,16})?)?';
const SPACE = '" "?';

function spaces(terms: Terms, any: boolean, pattern: string | null): { gap: Term; space: Term } {
  if (!any) return { gap: terms.empty, space: terms.empty };
  const read = (text: string) => expressionTerm(terms, readGbnf(`root ::= ${text}`)[0]!.body);
  if (pattern === null) return { gap: read(GAP), space: read(SPACE) };
  try {
    const term = patternTerm(terms, pattern, 'plain', 'whole');
    return { gap: term, space: term };
  } catch (error) {
    throw refusal('', `whitespace_pattern: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const regexForm = (terms: Terms, pattern: string): Form => alive(terms, patternTerm(terms, pattern, 'plain', 'whole'));

function alive(terms: Terms, term: Term): Form {
  if (!terms.isAlive(term)) throw new Error('no text matches it');
  return { kind: 'term', term };
}

function ebnfForm(terms: Terms, source: string): Form {
  if (!isLark(source)) return grammarForm(terms, readGbnf(source), new Map());
  const { gbnf, patterns } = larkToGbnf(source);
  const expressions = [...patterns].map(([name, each]) => [name, patternTerm(terms, each, 'plain', 'whole')] as const);
  return grammarForm(terms, readGbnf(gbnf), new Map(expressions));
}

function parseJson({ kind, source }: Constraint): unknown {
  try {
    return parseExactJson(source);
  } catch (cause) {
    throw unusable(kind, `it is not valid JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}

const NAMES: Readonly<Record<Constraint['kind'], string>> = {
  json_schema: 'JSON schema',
  regex: 'regular expression',
  ebnf: 'grammar',
  structural_tag: 'structural tag',
  either: 'constraint',
};

export function unusable(kind: Constraint['kind'], reason: string): AppError {
  const sentence = reason.trim().slice(0, 500);
  const end = sentence.endsWith('.') ? '' : '.';
  return new AppError('invalid_constraint', `This ${NAMES[kind]} cannot be used: ${sentence}${end}`);
}

function orRefuse<T>(kind: Constraint['kind'], read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw unusable(kind, 'it is nested too deeply');
    if (error instanceof TooComplex) throw unusable(kind, `${error.message}. Use a simpler one.`);
    throw error instanceof AppError ? error : unusable(kind, error instanceof Error ? error.message : String(error));
  }
}
