// Ids of entities and projects, where the library requires one.
import { createHash } from 'node:crypto';

/** The library reads it as a number. */
export function projectNumber(entity: string, project: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([entity, project]))
    .digest();
  return String(hash.readUIntBE(0, 6));
}

export const entityFields = (name: string) => ({ id: name, name, organization: null });
