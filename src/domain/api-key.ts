// A caller's identity and scopes. Only the SHA-256 of a key is stored.
import type { Limits } from './limits.ts';

/**
 * chat: sample. train: register, train and delete models, and everything `read` allows. read: list and download. admin: all of these,
 * and manage keys and webhooks. worker: connect engines. Workers see the prompts of every entity, so only the operator grants it.
 */
export const SCOPES = ['chat', 'train', 'read', 'admin', 'worker'] as const;
export type Scope = (typeof SCOPES)[number];

const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  chat: ['chat'],
  train: ['train', 'read'],
  read: ['read'],
  admin: ['chat', 'train', 'read', 'admin'],
  worker: ['worker'],
};

export const allows = (scopes: readonly Scope[], needed: Scope): boolean =>
  scopes.some((scope) => INCLUDED[scope].includes(needed));

export interface ApiKey {
  readonly id: string;
  readonly entity: string;
  readonly name: string;
  readonly secretHash: string; // hex SHA-256
  readonly scopes: readonly Scope[];
  readonly limits: Limits;
  readonly createdAtMs: number;
  /** Rounded to the minute. Null: never used. */
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
}
