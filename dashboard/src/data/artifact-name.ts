// The name of an artifact's version, in the API and in the dashboard's addresses.
import type { Item } from '../api/client.ts';
import { hrefTo } from '../router.ts';

export type Artifact = Item<'/v1/artifacts'>;

export const ARTIFACT_PAGE = '/data/{entity}/{project}/{artifact}';

export const artifactHref = ({ entity, project, name, version }: Artifact): string =>
  hrefTo(ARTIFACT_PAGE, { entity, project, artifact: `${name}:${version}` });
