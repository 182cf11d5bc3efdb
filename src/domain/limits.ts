// How much one key, or one entity with all its keys, may use. What is not named is not limited.

export const LIMIT_NAMES = ['requestsInFlight', 'queuedJobs', 'storedBytes', 'tokensPerDay'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Whole numbers, 0 or more. Days are UTC; tokens are those of chat requests, prompts and completions. */
export type Limits = Readonly<Partial<Record<LimitName, number>>>;

/** Null: every key of the entity together. */
export interface Account {
  readonly entity: string;
  readonly keyId: string | null;
}
