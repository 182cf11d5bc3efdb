// How a version of an artifact is called: in the API, and in addresses of this page.
import type { Item } from '../api/client.ts';
import { hrefTo } from '../router.ts';

export type Artifact = Item<'/v1/artifacts'>;

export const ARTIFACT_PAGE = '/data/{entity}/{project}/{artifact}';

export const artifactHref = ({ entity, project, name, version }: Artifact): string =>
  hrefTo(ARTIFACT_PAGE, { entity, project, artifact: `${name}:${version}` });
