// The name of an artifact's version, in the API and in the dashboard's addresses.
import type { Item } from '../api/client.ts';
import { hrefTo } from '../router.ts';
import { ARTIFACT_PAGE } from '../ui/artifact-page.ts';

export type Artifact = Item<'/v1/artifacts'>;

export const artifactHref = ({ entity, project, name, version }: Artifact): string =>
  hrefTo(ARTIFACT_PAGE, { entity, project, artifact: `${name}:${version}` });

/** A name for the artifact of a file, as the server allows names: `my rows (2).jsonl` becomes `my-rows-2`. */
export const artifactNameOf = (fileName: string): string =>
  fileName
    .replace(/\.[A-Za-z0-9]{1,8}$/, '')
    .replace(/[^A-Za-z0-9._]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 128);
