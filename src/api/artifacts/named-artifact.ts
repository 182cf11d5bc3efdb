// Parses the artifact named by a path.
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { parseArtifactName, type NamedVersion } from '#services/artifacts/artifact-name';

/** `~` is the caller's entity. Throws `artifact_not_found` if the text is not a valid name. */
export function namedArtifact(caller: Caller, params: Readonly<Record<string, string>>): NamedVersion {
  const entity = params.entity === '~' ? caller.entity : params.entity;
  const text = `${entity}/${params.project}/${params.artifact}`;
  const name = parseArtifactName(text);
  if (name) return name;
  throw new AppError('artifact_not_found', `${text} does not name an artifact: use entity/project/name[:version].`);
}
