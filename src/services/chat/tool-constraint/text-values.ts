// Strings that stand as bare text, where no JSON schema can be laid on them: a regular expression of what may be in them and how long
// they are.
import { Inexpressible } from './argument-formats.ts';

/** Of schemas for strings: what bare text cannot be held to. */
const BEYOND = ['pattern', 'format', 'anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', 'contentEncoding'];
const NULL_OR = new Set(['anyOf', 'oneOf']);

/** Any text without these, which are expressions. */
export const anyText = (forbidden: string): string => `${without(forbidden)}*`;

const without = (forbidden: string): string => `(?![\\s\\S]*(?:${forbidden}))[\\s\\S]`;

/** `forbidden`: an expression for what may not be in the text. Throws Inexpressible. */
export function textPattern(schema: Record<string, unknown>, forbidden: string, isStrict: boolean): string {
  const plain = withoutNull(schema);
  const beyond = isStrict ? BEYOND.find((key) => key in plain) : undefined;
  if (beyond !== undefined) throw new Inexpressible(`\`${beyond}\` of a string`);
  const { minLength: min, maxLength: max } = plain;
  if (!Number.isSafeInteger(min) && !Number.isSafeInteger(max)) return anyText(forbidden);
  return `${without(forbidden)}{${Number(min ?? 0)},${Number.isSafeInteger(max) ? Number(max) : ''}}`;
}

/** `anyOf: [string, null]` → the string. */
function withoutNull(schema: Record<string, unknown>): Record<string, unknown> {
  for (const key of NULL_OR) {
    const options = schema[key];
    if (!Array.isArray(options)) continue;
    const others = (options as Record<string, unknown>[]).filter((each) => each.type !== 'null');
    if (others.length === 1) return others[0]!;
  }
  return schema;
}
