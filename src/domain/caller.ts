// Who asks. Every service method that touches rows takes one and answers 404 for what is not the caller's.
import type { Scope } from './api-key.ts';
import type { Limits } from './limits.ts';

export interface Caller {
  readonly entity: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  /** Of the key; the entity has its own. */
  readonly limits: Limits;
}
