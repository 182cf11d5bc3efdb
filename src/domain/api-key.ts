// A caller's identity and what it may do. Only the SHA-256 of a key is stored.
import type { Limits } from './limits.ts';

/**
 * chat: sample. train: register, train and delete, and all that read allows. read: look and download. admin: all of these, and keys
 * and webhooks. worker: connect engines, which see the prompts of every entity: the operator's to give.
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

export const allows = (held: readonly Scope[], needed: Scope): boolean =>
  held.some((scope) => INCLUDED[scope].includes(needed));

export interface ApiKey {
  readonly id: string;
  readonly entity: string;
  readonly name: string;
  readonly secretHash: string; // hex SHA-256
  readonly scopes: readonly Scope[];
  readonly limits: Limits;
  readonly createdAtMs: number;
  /** To the minute. Null: never. */
  readonly lastUsedAtMs: number | null;
  readonly revokedAtMs: number | null;
}
