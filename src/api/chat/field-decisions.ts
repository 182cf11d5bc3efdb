// What happens to request fields that the schema of an endpoint does not read. A field that would change what an answer depends on is
// refused; one that would not is accepted, with the reason in `warnings`. The tables stand beside the schemas: chat-decisions.ts,
// messages-decisions.ts, responses-decisions.ts. test/service/clients/field-decisions.test.ts holds them against the fields of the clients' packages.
import { sentFields, unknownFields } from '#validation/unknown-fields';
import { refuse, type Loc } from '#validation/parse';

export type Decision =
  | {
      readonly kind: 'harmless';
      /** Why the answer is the same without it. Follows `FIELD was not used: `. */
      readonly why: string;
      /** Values that ask for nothing need no warning. */
      readonly asksNothing: (value: unknown) => boolean;
    }
  | {
      readonly kind: 'refused';
      /** What is not supported, and what to do instead: sentences. */
      readonly why: string;
      /** Values that ask for what happens anyway are accepted. */
      readonly asksNothing: (value: unknown) => boolean;
    };

export type Decisions = Readonly<Record<string, Decision>>;

type Test = (value: unknown) => boolean;

/** null, false, and empty texts, lists and objects: clients that send every key that they know. */
export const isEmpty: Test = (value) =>
  value === undefined ||
  value === null ||
  value === false ||
  (typeof value === 'object' ? Object.keys(value).length === 0 : value === '');

export const isNothing: Test = (value) => value === undefined || value === null;

export const harmless = (why: string, asksNothing: Test = isEmpty): Decision => ({
  kind: 'harmless',
  why,
  asksNothing,
});

export const refused = (why: string, asksNothing: Test = isEmpty): Decision => ({ kind: 'refused', why, asksNothing });

/** The decision is the same for all these fields. */
export const forAll = (fields: readonly string[], decision: (field: string) => Decision): Decisions =>
  Object.fromEntries(fields.map((field) => [field, decision(field)]));

/** Fields that ask for nothing that this server could leave out: accepted without a word. */
export const quiet = (why: string): Decision => harmless(why, () => true);

/**
 * Throws a ValidationError for a refused field. Returns warnings about fields that were not used: the harmless and the unknown ones.
 * `at`: where in the body the object with these fields is, if it is not the body itself. Objects of a list share their warnings.
 */
export function applyDecisions(
  { shape }: { readonly shape: object },
  decisions: Decisions,
  wire: Readonly<Record<string, unknown>>,
  at: Loc = [],
): string[] {
  const known = { shape: { ...decisions, ...shape } };
  return [...applyNested(decisions, wire, at), ...unknownFields(known, sentFields(wire), prefix(at))];
}

/** The same for an object that is passed on with fields that nobody knows, which a chat template may read. */
export function applyNested(decisions: Decisions, wire: Readonly<Record<string, unknown>>, at: Loc): string[] {
  const warnings: string[] = [];
  for (const [field, value] of Object.entries(wire)) {
    const decision = Object.hasOwn(decisions, field) ? decisions[field]! : null;
    if (decision === null || decision.asksNothing(value)) continue;
    if (decision.kind === 'refused') refuse(['body', ...at, field], decision.why, value);
    warnings.push(`${prefix(at)}${field} was not used: ${decision.why}`);
  }
  return warnings;
}

/** Without the places in lists. */
const prefix = (at: Loc): string =>
  at
    .filter((part) => typeof part === 'string')
    .map((part) => `${part}.`)
    .join('');
