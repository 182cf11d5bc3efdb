// Fields that a client sent and that are not read. They are accepted, because newer clients send more than this server knows, and listed
// in the `warnings` of the answer, so that users know that they had no effect.
import { z } from 'zod';

/** Maximum number of listed fields. */
const NAMED_MAX = 20;
const NAME_LENGTH_MAX = 100;

export const warnings = z
  .array(z.string())
  .optional()
  .describe('Parts of the request that were not used, or not used as sent; absent if there are none.');

/** `at` is the location shown to users: `config.` */
export const unknownFields = ({ shape }: { readonly shape: object }, sent: object, at = ''): string[] =>
  sayUnknown(unknownNames({ shape }, sent), at);

export const unknownNames = ({ shape }: { readonly shape: object }, sent: object): string[] =>
  Object.keys(sent).filter((name) => !Object.hasOwn(shape, name));

/** The same for fields that were found elsewhere. */
export function sayUnknown(unknown: readonly string[], at = ''): string[] {
  const named = unknown.slice(0, NAMED_MAX).map((name) => `${at}${name.slice(0, NAME_LENGTH_MAX)}`);
  return [
    ...named.map((name) => `${name} is not a field that this server knows: it was not used.`),
    ...(unknown.length > NAMED_MAX ? [`${unknown.length - NAMED_MAX} more unknown fields were not used.`] : []),
  ];
}

/** Without empty values: some clients send every field that they know. */
export const sentFields = (sent: object): object =>
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== undefined));

/** As part of an answer. */
export const warned = (list: readonly string[]): { warnings?: string[] } =>
  list.length > 0 ? { warnings: [...list] } : {};
