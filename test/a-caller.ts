// Who asks, where a test does not care.
import { SCOPES } from '#domain/api-key';
import type { Caller } from '#domain/caller';

export const aCaller = (change: Partial<Caller> = {}): Caller => ({
  entity: 'team',
  keyId: 'k',
  scopes: SCOPES,
  limits: {},
  ...change,
});
