// The links that the `wandb` library prints, `/ENTITY/PROJECT` and `/ENTITY/PROJECT/runs/RUN`, lead a browser to that place in the
// dashboard, which asks for a key and for the runs. Asked only for paths that no endpoint has, so it shadows none; programs that ask
// for such a path, or for one that begins as an endpoint does, still get a 404.

const LINK = /^\/([^/]+)\/([^/]+)(?:\/runs\/([^/]+)(?:\/(?:workspace|overview))?)?(?:\/(?:workspace|table))?\/?$/;

interface Request {
  readonly method: string;
  readonly path: string;
  /** The header. */
  readonly accept: string | undefined;
}

/** First segments of all endpoints: `v1`, `files`. */
export const firstSegments = (endpoints: readonly { readonly path: string }[]): ReadonlySet<string> =>
  new Set(endpoints.map(({ path }) => path.split('/')[1]!));

/** Relative, as the page's own links are, so that any prefix works. Null: no such link. */
export function runLink({ method, path, accept = '' }: Request, taken: ReadonlySet<string>): string | null {
  if ((method !== 'GET' && method !== 'HEAD') || !accept.includes('text/html')) return null;
  const [, entity, project, run] = LINK.exec(path) ?? [];
  if (entity === undefined || project === undefined || taken.has(entity)) return null;
  const up = '../'.repeat(path.split('/').length - 2);
  return `${up}#/runs/${entity}/${project}${run === undefined ? '' : `/${run}`}`;
}
