// Constraints as clients send them → what the grammar library is good at: schemas become grammars, also inside tags.
import type { Constraint } from '#domain/constraint';
import { isLark, larkToGbnf } from './lark.ts';
import { refusal, schemaGrammar } from './schema-grammar.ts';
import type { ThreadConstraint } from './thread-messages.ts';

/** Throws `invalid_constraint`. */
export function prepare(constraint: Constraint): ThreadConstraint {
  const { kind, source } = constraint;
  if (kind === 'json_schema') return { kind: 'ebnf', source: schemaGrammar(parseJson(source), constraint) };
  if (kind === 'ebnf' && isLark(source)) return { kind, source: larkToGbnf(source) };
  return kind === 'structural_tag' ? { kind, source: JSON.stringify(withGrammars(parseJson(source), 0)) } : constraint;
}

const DEPTH_MAX = 64; // deeper tags are made to break parsers
const INSIDE_TAGS = { anyWhitespace: true, whitespacePattern: null, strict: false };

function withGrammars(part: unknown, depth: number): unknown {
  if (depth > DEPTH_MAX) throw refusal('', `the tag is nested more than ${DEPTH_MAX} deep`);
  if (Array.isArray(part)) return part.map((item) => withGrammars(item, depth + 1));
  if (typeof part !== 'object' || part === null) return part;
  if ('json_schema' in part) return { type: 'grammar', grammar: schemaGrammar(part.json_schema, INSIDE_TAGS) };
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, withGrammars(value, depth + 1)]));
}

function parseJson(source: string): unknown {
  try {
    return JSON.parse(source) as unknown;
  } catch (cause) {
    throw refusal('', `it is not JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}
