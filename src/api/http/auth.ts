// Bearer tokens → Caller, for every route that is not public. The scheme is case-insensitive. Routes compatible with Anthropic and the
// Tinker protocol also accept `x-api-key`; those of W&B accept the key as a password.
import type { FastifyRequest } from 'fastify';
import { allows, type Scope } from '#domain/api-key';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { ApiKeys } from '#services/accounts/api-keys';
import { dialectOf } from './error-response.ts';

function bearerToken(header: string | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}

/** The `wandb` library sends the key as the password of the user `api`. */
function basicPassword(header: string | undefined): string | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]{1,1000}) *$/i.exec(header ?? '')?.[1];
  return encoded === undefined ? null : (/^api:(\S+)$/.exec(Buffer.from(encoded, 'base64').toString())?.[1] ?? null);
}

/** Clients of Anthropic's API send this header unless they were given a token; Tinker's clients send it too. */
function plainKey(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && header !== '' ? header : null;
}

/** Throws `invalid_api_key` or `missing_scope`. Null: any key is accepted. */
export async function authenticate(apiKeys: ApiKeys, request: FastifyRequest, scope: Scope | null): Promise<Caller> {
  const { headers } = request;
  const dialect = dialectOf(request);
  const keyOf = {
    anthropic: () => plainKey(headers['x-api-key']),
    tinker: () => plainKey(headers['x-api-key']),
    wandb: () => basicPassword(headers.authorization),
  };
  const caller = await apiKeys.authenticate(bearerToken(headers.authorization) ?? (dialect ? keyOf[dialect]() : null));
  if (scope === null || allows(caller.scopes, scope)) return caller;
  throw new AppError(
    'missing_scope',
    `This key may not do that: it needs the scope ${scope}, and has ${caller.scopes.join(', ') || 'none'}. Make another with \`whetstone keys create --scopes ${scope}\`.`,
  );
}

/** Whether the request's key has access now, for connections that stay open. A database that does not answer revokes no key. */
export async function hasAccess(apiKeys: ApiKeys, request: FastifyRequest, scope: Scope | null): Promise<boolean> {
  try {
    await authenticate(apiKeys, request, scope);
    return true;
  } catch (error) {
    return !(error instanceof AppError && (error.code === 'invalid_api_key' || error.code === 'missing_scope'));
  }
}
