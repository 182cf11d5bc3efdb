// Lists with cursors, as the API returns them: all rows one after another, or page by page.
import { call, type Item, type Path, type Query } from './client.ts';

const PAGE_ROWS = 100;

interface ListOptions<P extends Path> {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Query<P>;
  readonly signal?: AbortSignal | undefined;
}

/** Yields every row; loads the next page once all rows of one are consumed. */
export async function* listAll<P extends Path>(path: P, options: ListOptions<P> = {}): AsyncGenerator<Item<P>> {
  for await (const rows of listPages(path, options)) yield* rows;
}

/** For lists that are shown while they load. */
export async function* listPages<P extends Path>(
  path: P,
  { path: named = {}, query, signal }: ListOptions<P> = {},
): AsyncGenerator<readonly Item<P>[]> {
  for (let after: string | undefined; ;) {
    const paged = { limit: PAGE_ROWS, ...(query as object), ...(after === undefined ? {} : { after }) } as Query<P>;
    const page = (await call('get', path, { path: named, query: paged, signal })) as unknown as Page<Item<P>>;
    yield page.data;
    if (!page.has_more) return;
    after = page.last_id;
  }
}

/** Returns all rows. For lists that a person looks at as a whole, such as the steps of one model. */
export async function readList<P extends Path>(path: P, options: ListOptions<P> = {}): Promise<Item<P>[]> {
  const rows: Item<P>[] = [];
  for await (const page of listPages(path, options)) rows.push(...page);
  return rows;
}

interface Page<T> {
  readonly data: readonly T[];
  readonly last_id: string;
  readonly has_more: boolean;
}
