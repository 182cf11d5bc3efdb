// Ids of entities, projects and runs, where the library requires one.
import { createHash } from 'node:crypto';

/** The library reads it as a number. */
export function projectNumber(entity: string, project: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([entity, project]))
    .digest();
  return String(hash.readUIntBE(0, 6));
}

export const entityFields = (name: string) => ({ id: name, name, organization: null });

/** With it alone, the library changes a run that it has read. */
export const runNodeId = (project: string, name: string): string => JSON.stringify([project, name]);

/** Null: not such an id. */
export function readRunNodeId(id: string): { readonly project: string; readonly name: string } | null {
  const [project, name] = readTexts(id);
  return project !== undefined && name !== undefined ? { project, name } : null;
}

/** A list of texts; empty: it is none. */
export function readTexts(json: string): readonly string[] {
  try {
    const all: unknown = JSON.parse(json);
    return Array.isArray(all) && all.every((each) => typeof each === 'string') ? all : [];
  } catch {
    return [];
  }
}
