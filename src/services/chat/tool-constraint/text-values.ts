// Strings written as bare text, to which no JSON schema can be applied: a regular expression for their characters and length.
import { Inexpressible } from './argument-formats.ts';

/** Schema keywords for strings that cannot be enforced on bare text. */
const BEYOND = ['pattern', 'format', 'anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', 'contentEncoding'];
const NULL_OR = new Set(['anyOf', 'oneOf']);

/** Any text that contains none of these expressions. */
export const anyText = (forbidden: string): string => `${without(forbidden)}*`;

const without = (forbidden: string): string => `(?![\\s\\S]*(?:${forbidden}))[\\s\\S]`;

/** `forbidden`: an expression that must not occur in the text. Throws Inexpressible. */
export function textPattern(schema: Record<string, unknown>, forbidden: string, isStrict: boolean): string {
  const plain = withoutNull(schema);
  const beyond = isStrict ? BEYOND.find((key) => key in plain) : undefined;
  if (beyond !== undefined) throw new Inexpressible(`\`${beyond}\` of a string is not supported`);
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
