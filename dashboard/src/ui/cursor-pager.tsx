// Leads through a list that the server returns in pages. The place in the list is in the address, so that Back, reloading and links work;
// the rows before it are counted there, because the server does not count them.
import { whole } from './numbers.ts';

export interface PagePlace {
  /** The last row of the page before; undefined: the first page. */
  readonly after?: string;
  /** Rows before this page. */
  readonly before: number;
}

export function pagePlaceOf(query: URLSearchParams): PagePlace {
  const [after, before] = [query.get('after'), Number(query.get('before'))];
  return { ...(after ? { after } : {}), before: after && Number.isSafeInteger(before) && before > 0 ? before : 0 };
}

interface CursorPagerProps {
  readonly place: PagePlace;
  readonly page: { readonly data: readonly unknown[]; readonly last_id: string; readonly has_more: boolean };
  /** How many rows all pages have, where the server counts them. */
  readonly total?: number | string | undefined;
  /** What the rows are: `episodes`. */
  readonly of: string;
  /** What the links say, where `Newest` and `Older` do not fit. */
  readonly words?: { readonly first: string; readonly next: string };
  /** Address of a page; no place: the first one. */
  readonly hrefOf: (place?: PagePlace & { readonly after: string }) => string;
}

const WORDS = { first: 'Newest', next: 'Older' };

export function CursorPager({ place, page, total, of, words = WORDS, hrefOf }: CursorPagerProps) {
  const last = place.before + page.data.length;
  if (page.data.length === 0 && place.after === undefined) return null; // the page says that the list is empty
  return (
    <nav class="row pager" aria-label={`Pages of ${of}`}>
      <span class="muted small">
        {page.data.length === 0
          ? `No more ${of}`
          : `${of[0]!.toUpperCase()}${of.slice(1)} ${whole(place.before + 1)} to ${whole(last)}`}
        {page.data.length > 0 && total !== undefined
          ? ` of ${typeof total === 'number' ? whole(total) : total}`
          : page.has_more
            ? ', and more'
            : page.data.length > 0
              ? ', the last ones'
              : ''}
      </span>
      {place.after !== undefined && (
        <a class="button" href={hrefOf()}>
          « {words.first}
        </a>
      )}
      {page.has_more && (
        <a class="button" href={hrefOf({ after: page.last_id, before: last })}>
          {words.next} ›
        </a>
      )}
    </nav>
  );
}
