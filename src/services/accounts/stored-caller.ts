// The caller of work that runs after its request has ended: the limits and the queue position of its key still apply.
import type { Caller } from '#domain/caller';
import type { Storage } from '#storage/storage';

export async function findStoredCaller(
  { apiKeys }: Pick<Storage, 'apiKeys'>,
  { entity, keyId }: Pick<Caller, 'entity' | 'keyId'>,
): Promise<Caller> {
  const key = (await apiKeys.list(entity)).find(({ id }) => id === keyId);
  return { entity, keyId, scopes: ['chat'], limits: key?.limits ?? {} };
}
