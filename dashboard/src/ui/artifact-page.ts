// The address of the page of an artifact's version: data, and what was trained on it.
import { hrefTo } from '../router.ts';

export const ARTIFACT_PAGE = '/data/{entity}/{project}/{artifact}';

/** Of `wandb-artifact:///team/demo/rows:v0`. */
export function hrefOfUri(uri: string): string {
  const [entity = '', project = '', artifact = ''] = uri.replace(/^wandb-artifact:\/{2,3}/, '').split('/');
  return hrefTo(ARTIFACT_PAGE, { entity, project, artifact });
}
