// Bearer tokens → Caller, for every route that is not public. The scheme's case does not matter.
import type { FastifyRequest } from 'fastify';
import { allows, type Scope } from '#domain/api-key';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { ApiKeys } from '#services/api-keys';

export function bearerToken(header: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}

/** Throws `invalid_api_key`, `missing_scope`. Null: any key will do. */
export async function authenticate(apiKeys: ApiKeys, request: FastifyRequest, scope: Scope | null): Promise<Caller> {
  const caller = await apiKeys.authenticate(bearerToken(request.headers.authorization));
  if (scope === null || allows(caller.scopes, scope)) return caller;
  throw new AppError(
    'missing_scope',
    `This key may not do that: it needs the scope ${scope}, and has ${caller.scopes.join(', ') || 'none'}. Make another with \`whetstone keys create --scopes ${scope}\`.`,
  );
}
