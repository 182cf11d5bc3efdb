// A default caller, for tests in which the caller does not matter.
import { SCOPES } from '#domain/api-key';
import type { Caller } from '#domain/caller';
import type { Payer } from '#storage/account-store';

export const aCaller = (change: Partial<Caller> = {}): Caller => ({
  entity: 'team',
  keyId: 'k',
  scopes: SCOPES,
  limits: {},
  ...change,
});

/** Without limits. */
export const aPayer = (change: Partial<Payer> = {}): Payer => ({
  keyId: 'k',
  keyBytesMax: null,
  entityBytesMax: null,
  ...change,
});
