// Untrusted JSON → typed values, or one list of all errors in it, with pydantic's types and messages: clients and test suites of such
// services read `type` and `loc`. Knows zod; knows no HTTP status (see error-response.ts).
import { z } from 'zod';

/** Where a value is in a request: keys and indices, as in pydantic's errors. */
export type Loc = readonly (string | number)[];

export interface ValidationItem {
  readonly type: string;
  readonly loc: Loc;
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

export class ValidationError extends Error {
  override readonly name = 'ValidationError';
  readonly items: readonly ValidationItem[];

  constructor(items: readonly ValidationItem[]) {
    super(items.map((item) => `${item.loc.join('.')}: ${item.msg}`).join('; '));
    this.items = items.map((item) => ({ ...item, input: boundedInput(item.input) }));
  }
}

/** Source of a value: the first element of every `loc`. */
export type RequestPart = 'body' | 'query' | 'path';

export const ITEMS_MAX = 50; // a long array of invalid items must not produce an answer longer than the request

export function parse<S extends z.ZodType>(schema: S, value: unknown, source: RequestPart): z.output<S> {
  if (value === undefined && source === 'body') {
    throw new ValidationError([{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }]);
  }
  // zod drops a key of this name, so that nobody would learn that it was not used.
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__'))
    refuse([source, '__proto__'], 'No field has this name. Leave it out.', null);
  const result = check(schema, value);
  if (result.success) return result.data;
  const items = result.error.issues.flatMap((issue) => itemsOf(issue, value, [], [source]));
  throw new ValidationError(items.slice(0, ITEMS_MAX));
}

const EXPLAINED_NODES_MAX = 5_000;
/** An option of zod that its type declarations omit: lists and objects stop at their first error. */
const FIRST_FAULT = { abortEarly: true } as z.core.ParseContext<z.core.$ZodIssue>;

/** Errors of a long value are not collected: only the first one is reported, as soon as it is found. */
export function check<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  const first = schema.safeParse(value, FIRST_FAULT);
  return first.success || countNodes(value, EXPLAINED_NODES_MAX) === EXPLAINED_NODES_MAX
    ? first
    : schema.safeParse(value);
}

/** Number of parts of a value, including itself; at most `most`. */
export function countNodes(value: unknown, most: number): number {
  let count = 1;
  if (typeof value !== 'object' || value === null) return count;
  for (const key in value) {
    if (count >= most) return most;
    count += countNodes((value as Record<string, unknown>)[key], most - count);
  }
  return Math.min(count, most);
}

/** A rule without a type in pydantic; `loc` starts with the source. */
export function refuse(loc: Loc, message: string, input: unknown): never {
  throw new ValidationError([valueError(loc, message, input)]);
}

const valueError = (loc: Loc, message: string, input: unknown): ValidationItem => ({
  type: 'value_error',
  loc,
  msg: `Value error, ${message}`,
  input,
  ctx: { error: {} },
});

/** Parameters of our own schemas for errors that zod does not have: see lax.ts. */
export interface Complaint {
  readonly type: string;
  readonly msg: string;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

type Issue = z.core.$ZodIssue;

function itemsOf(issue: Issue, root: unknown, at: readonly PropertyKey[], loc: Loc): ValidationItem[] {
  const path = [...at, ...issue.path];
  const here = [...loc, ...issue.path.map(locElement)];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    // One item per alternative. lax.ts puts their names into the message.
    const names = issue.message.split(' | ');
    return issue.errors.flatMap((errors, i) =>
      errors.flatMap((inner) =>
        itemsOf(inner, root, path, names.length === issue.errors.length ? [...here, names[i]!] : here),
      ),
    );
  }
  const input = valueAt(root, path);
  const complaint = complaintOf(issue, input, here.length === 1);
  const shown = complaint.type === 'missing' ? valueAt(root, path.slice(0, -1)) : input;
  return [
    {
      type: complaint.type,
      loc: here,
      msg: complaint.msg,
      input: shown,
      ...(complaint.ctx ? { ctx: complaint.ctx } : {}),
    },
  ];
}

function complaintOf(issue: Issue, input: unknown, isRoot: boolean): Complaint {
  switch (issue.code) {
    case 'invalid_type':
      return input === undefined ? MISSING : wrongType(issue.expected, input, isRoot);
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return tooBig(issue);
    case 'invalid_value':
      return input === undefined ? MISSING : literalError(issue.values.map(String));
    case 'invalid_format':
      if (issue.format === 'guid' || issue.format === 'uuid') {
        return { type: 'uuid_parsing', msg: 'Input should be a valid UUID', ctx: { error: 'not a UUID' } };
      }
      return { type: 'string_pattern_mismatch', msg: issue.message };
    case 'custom': {
      const complaint = issue.params?.complaint as Complaint | undefined;
      return complaint ?? { type: 'value_error', msg: `Value error, ${issue.message}`, ctx: { error: {} } };
    }
    case 'invalid_union':
    case 'unrecognized_keys':
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
      return { type: 'value_error', msg: `Value error, ${issue.message}`, ctx: { error: {} } };
  }
}

const MISSING: Complaint = { type: 'missing', msg: 'Field required' };

function wrongType(expected: string, input: unknown, isRoot: boolean): Complaint {
  if (isRoot && expected === 'object') {
    return {
      type: 'model_attributes_type',
      msg: 'Input should be a valid dictionary or object to extract fields from',
    };
  }
  if (typeof input === 'number' && !Number.isFinite(input))
    return { type: 'finite_number', msg: 'Input should be a finite number' };
  return WRONG_TYPE[expected] ?? { type: `${expected}_type`, msg: `Input should be a valid ${expected}` };
}

const WRONG_TYPE: Readonly<Record<string, Complaint>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  int: { type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
};

function tooSmall(issue: z.core.$ZodIssueTooSmall): Complaint {
  const minimum = Number(issue.minimum);
  if (issue.origin === 'array') {
    return {
      type: 'too_short',
      msg: `List should have at least ${count(minimum, 'item')}`,
      ctx: { field_type: 'List', min_length: minimum },
    };
  }
  if (issue.origin === 'string') {
    return {
      type: 'string_too_short',
      msg: `String should have at least ${count(minimum, 'character')}`,
      ctx: { min_length: minimum },
    };
  }
  return issue.inclusive === false
    ? { type: 'greater_than', msg: `Input should be greater than ${minimum}`, ctx: { gt: minimum } }
    : { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${minimum}`, ctx: { ge: minimum } };
}

function tooBig(issue: z.core.$ZodIssueTooBig): Complaint {
  const maximum = Number(issue.maximum);
  if (issue.origin === 'array') {
    return {
      type: 'too_long',
      msg: `List should have at most ${count(maximum, 'item')}`,
      ctx: { field_type: 'List', max_length: maximum },
    };
  }
  if (issue.origin === 'string') {
    return {
      type: 'string_too_long',
      msg: `String should have at most ${count(maximum, 'character')}`,
      ctx: { max_length: maximum },
    };
  }
  return issue.inclusive === false
    ? { type: 'less_than', msg: `Input should be less than ${maximum}`, ctx: { lt: maximum } }
    : { type: 'less_than_equal', msg: `Input should be less than or equal to ${maximum}`, ctx: { le: maximum } };
}

function literalError(values: readonly string[]): Complaint {
  const quoted = values.map((value) => `'${value}'`);
  const expected = quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}` : quoted.join('');
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } };
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

const locElement = (key: PropertyKey): string | number => (typeof key === 'number' ? key : String(key));

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

const SHOWN_NODES = 40;
const SHOWN_CHARACTERS = 200;

/** Whether the value stands for the one that was sent, which its toJSON() returns. */
const hasOwnForm = (part: object): part is { toJSON(): unknown } =>
  'toJSON' in part && typeof part.toJSON === 'function';

/** Enough of a value to recognise it, without anything that JSON cannot represent: a body may be hundreds of megabytes. */
function boundedInput(value: unknown): unknown {
  let nodesLeft = SHOWN_NODES;
  const show = (part: unknown): unknown => {
    if (nodesLeft-- <= 0) return '…';
    if (typeof part === 'string') return part.length > SHOWN_CHARACTERS ? `${part.slice(0, SHOWN_CHARACTERS)}…` : part;
    if (typeof part === 'bigint' || (typeof part === 'number' && !Number.isFinite(part))) return String(part);
    if (typeof part !== 'object' || part === null) return part ?? null;
    if (hasOwnForm(part)) return show(part.toJSON());
    if (Array.isArray(part)) return part.slice(0, Math.max(1, nodesLeft)).map(show);
    const shown: Record<string, unknown> = {};
    for (const key of Object.keys(part)) {
      if (nodesLeft <= 0) break;
      shown[key] = show((part as Record<string, unknown>)[key]);
    }
    return shown;
  };
  return show(value);
}
