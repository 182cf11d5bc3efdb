// The caller of a service method. Every method that touches rows takes one and answers 404 for rows of other entities.
import type { Scope } from './api-key.ts';
import type { Limits } from './limits.ts';

export interface Caller {
  readonly entity: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** Limits of the key; the entity has limits of its own. */
  readonly limits: Limits;
}
