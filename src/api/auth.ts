// Bearer tokens → Caller, for every route that is not public. The scheme's case does not matter.
import type { FastifyRequest } from 'fastify';
import type { Caller } from '#domain/caller';
import type { ApiKeys } from '#services/api-keys';

export function bearerToken(header: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}

export const authenticate = (apiKeys: ApiKeys, request: FastifyRequest): Promise<Caller> =>
  apiKeys.authenticate(bearerToken(request.headers.authorization));
