// Reads the runs of a project, newest first, as far as a page shows them: sorting needs all of them.
import { ApiError, call, type Answer } from '../api/client.ts';
import type { Run } from './run-cells.tsx';

type Page = Answer<'/v1/runs'>;

/** 2,000 runs; those with long configurations come in shorter pages of about 4 MB. */
const PAGES_MAX = 20;
const PAGE_ROWS = 100;

interface Wanted {
  /** `~`: that of the key. */
  readonly entity: string;
  readonly project: string;
  readonly search: string;
  readonly state: string;
}

export async function readRuns({ entity, project, search, state }: Wanted, signal: AbortSignal) {
  const query = {
    ...{ entity, project, search, order: 'desc' as const, limit: PAGE_ROWS },
    ...(state === '' ? {} : { state: state as Run['state'] }),
  };
  const runs: Run[] = [];
  let page: Page | null = null;
  for (let at = 0; at < PAGES_MAX && (page === null || page.has_more); at++) {
    const after: { after?: string } = page === null ? {} : { after: page.last_id };
    page = await call('get', '/v1/runs', { query: { ...query, ...after }, signal });
    runs.push(...page.data);
  }
  return { runs, counts: page!.counts };
}

interface ProjectName {
  readonly entity: string;
  readonly project: string;
}

/** Without those that do not exist. */
export async function readNamed(project: ProjectName, names: readonly string[], signal: AbortSignal): Promise<Run[]> {
  const found = names.map((run) =>
    call('get', '/v1/runs/{entity}/{project}/{run}', { path: { ...project, run }, signal }).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }),
  );
  return (await Promise.all(found)).filter((run) => run !== null);
}
