// Usage limits of one key, or of an entity with all its keys together. A limit that is not set does not apply.

export const LIMIT_NAMES = ['requestsInFlight', 'queuedJobs', 'storedBytes', 'tokensPerDay'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Whole numbers, 0 or more. Days are UTC; tokens are those of chat requests, prompts and completions. */
export type Limits = Readonly<Partial<Record<LimitName, number>>>;

/** Null: all keys of the entity together. */
export interface Account {
  readonly entity: string;
  readonly keyId: string | null;
}
