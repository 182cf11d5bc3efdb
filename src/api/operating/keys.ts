// API keys of the caller's entity, for keys with the scope admin. Creating a key does not support Idempotency-Key: that would
// store the secret.
import { z } from 'zod';
import { AppError } from '#domain/errors';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { createdKey, createKey, keyResponse, toKeyResponse, toNewKey } from './key.ts';
import { parse } from '#validation/parse';

export function keyRoutes({ apiKeys }: Pick<ApiServices, 'apiKeys'>): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/keys',
      tag: 'Keys',
      summary: 'Create an API key. Its secret is shown only once',
      access: 'admin',
      errors: [403],
      body: { schema: createKey, read: (raw) => parse(createKey, raw, 'body') },
      answer: createdKey,
      async handle({ caller, body }) {
        const { key, secret } = await apiKeys.create({ ...toNewKey(caller.entity, body), maker: caller });
        return { ...toKeyResponse(key), secret };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/keys',
      tag: 'Keys',
      summary: 'List API keys, oldest first',
      access: 'admin',
      answer: z.object({ object: z.literal('list'), data: z.array(keyResponse) }),
      handle: async ({ caller }) => ({
        object: 'list',
        data: (await apiKeys.list(caller.entity)).map(toKeyResponse),
      }),
    }),
    endpoint({
      method: 'DELETE',
      path: '/v1/keys/{key_id}',
      tag: 'Keys',
      summary: 'Revoke an API key. Takes effect with its next request; repeating the call is safe',
      access: 'admin',
      errors: [404],
      answer: z.object({
        id: z.string(),
        object: z.literal('api_key'),
        revoked: z.literal(true).describe('Whether the key is revoked.'),
      }),
      async handle({ caller, params }) {
        const id = params.key_id!;
        if ((await apiKeys.revoke(id, caller.entity)) === 'not_found')
          throw new AppError('not_found', `No API key ${id.slice(0, 100)}. List yours with GET /v1/keys.`);
        return { id, object: 'api_key', revoked: true };
      },
    }),
  ];
}
