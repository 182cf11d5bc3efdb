// Who asked for work that runs after their request has ended: its limits and its place are those of their key's requests.
import type { Caller } from '#domain/caller';
import type { Storage } from '#storage/storage';

export async function findStoredCaller(
  { apiKeys }: Pick<Storage, 'apiKeys'>,
  { entity, keyId }: Pick<Caller, 'entity' | 'keyId'>,
): Promise<Caller> {
  const key = (await apiKeys.list(entity)).find(({ id }) => id === keyId);
  return { entity, keyId, scopes: ['chat'], limits: key?.limits ?? {} };
}
