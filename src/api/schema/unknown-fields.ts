// Fields that a client sent and nothing reads. They are accepted, because newer clients send more than we know, and named in
// the answer's `warnings`, so that nobody believes that they had an effect.
import { z } from 'zod';

/** A client that sends more has seen its mistake by then. */
const NAMED_MAX = 20;
const NAME_LENGTH_MAX = 100;

export const warnings = z
  .array(z.string())
  .optional()
  .meta({ description: 'Parts of the request that were not used, or not used as sent; absent if there are none.' });

/** `at` is where the fields are, for people: `config.` */
export function unknownFields({ shape }: { readonly shape: object }, sent: object, at = ''): string[] {
  const unknown = Object.keys(sent).filter((name) => !Object.hasOwn(shape, name));
  const named = unknown.slice(0, NAMED_MAX).map((name) => `${at}${name.slice(0, NAME_LENGTH_MAX)}`);
  return [
    ...named.map((name) => `${name} is not a field that this server knows: it was not used.`),
    ...(unknown.length > NAMED_MAX ? [`${unknown.length - NAMED_MAX} more unknown fields were not used.`] : []),
  ];
}

/** Without those that say nothing: some clients send every field that they know. */
export const sentFields = (sent: object): object =>
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== undefined));

/** As a part of an answer. */
export const warned = (list: readonly string[]): { warnings?: string[] } =>
  list.length > 0 ? { warnings: [...list] } : {};
