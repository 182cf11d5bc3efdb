// The limits that a key may have, in words, and as the API takes them. Pure.
import { bytes, counted, whole } from '../ui/numbers.ts';

export const LIMITS = [
  { name: 'tokens_per_day', label: 'Tokens per day', noun: 'token', of: 'per day' },
  { name: 'requests_in_flight', label: 'Requests at a time', noun: 'request', of: 'at a time' },
  { name: 'queued_jobs', label: 'Jobs in the queue', noun: 'job', of: 'in the queue' },
  { name: 'stored_bytes', label: 'Stored bytes', noun: 'byte', of: 'stored' },
] as const;

type LimitName = (typeof LIMITS)[number]['name'];

/** As typed. */
export type TypedLimits = Readonly<Partial<Record<LimitName, string>>>;

/** Without those that are empty; undefined: none. */
export function limitsOf(typed: TypedLimits): Record<string, number> | undefined {
  const given = LIMITS.flatMap(({ name }) => {
    const text = typed[name]?.trim() ?? '';
    return text === '' ? [] : [[name, Number(text)] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/** `50 000 tokens per day, 2 requests at a time`. Empty: none. */
export function limitsInWords(limits: Readonly<Record<string, number>>): string {
  const words = Object.entries(limits).map(([name, value]) => {
    if (name === 'stored_bytes') return `${bytes(value)} stored`;
    const limit = LIMITS.find((each) => each.name === name);
    return limit ? `${counted(value, limit.noun)} ${limit.of}` : `${name.replaceAll('_', ' ')}: ${whole(value)}`;
  });
  return words.join(', ');
}
