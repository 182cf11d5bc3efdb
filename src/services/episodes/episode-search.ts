// Finds episodes that contain a text: in their names and metadata, and in what their calls said. Not case-sensitive. The texts are stored
// compressed, so they are read again for each search, a bounded amount for a page. Knows no HTTP.
import type { Episode } from '#domain/episode';
import type { Listing, Order, Page } from '#domain/page';
import type { EpisodeFilter, EpisodeStore } from '#storage/episode-store';
import { textOf } from '../chat/conversation-digest.ts';
import type { PackedContent } from './call-content.ts';
import { readSaid } from './read-calls.ts';

/** What one page looks at, at most: the stored bytes of the calls, and episodes. A page that stops here says where it stopped. */
export interface SearchBudget {
  readonly bytes: number;
  readonly episodes: number;
}

const BUDGET: SearchBudget = { bytes: 8_000_000, episodes: 2_000 };
const LIST_PAGE = 100;
const CALLS_AT_ONCE = 50;

/** A page may have fewer rows than its limit, or none, although more may follow: its `cursor` is the last episode that was read. */
export async function searchEpisodes(
  store: Pick<EpisodeStore, 'list' | 'calls'>,
  filter: EpisodeFilter,
  text: string,
  { after, limit }: Page,
  order: Order,
  budget: SearchBudget = BUDGET,
): Promise<Listing<Episode>> {
  const needle = text.toLowerCase();
  const rows: Episode[] = [];
  let [bytes, seen, cursor] = [0, 0, after];
  for (;;) {
    const page = await store.list(filter, { after: cursor, limit: LIST_PAGE }, order);
    for (const [at, episode] of page.rows.entries()) {
      if (await contains(store, episode, needle)) rows.push(episode);
      cursor = episode.id;
      bytes += episode.callBytes;
      seen += 1;
      const hasMore = page.hasMore || at + 1 < page.rows.length;
      if (hasMore && (rows.length >= limit || bytes >= budget.bytes || seen >= budget.episodes))
        return { rows, hasMore, cursor };
    }
    if (!page.hasMore) return { rows, hasMore: false };
  }
}

async function contains(store: Pick<EpisodeStore, 'calls'>, episode: Episode, needle: string): Promise<boolean> {
  const has = (said: string) => said.toLowerCase().includes(needle);
  const { id, name, groupName, metadata, callCount, expiredAtMs } = episode;
  if ([name, groupName ?? '', JSON.stringify(metadata)].some(has)) return true;
  if (expiredAtMs !== null) return false;
  for (let from = 0; from < callCount; from += CALLS_AT_ONCE)
    for (const { content } of await readSaid(store, id, from, CALLS_AT_ONCE))
      for (const said of textsOf(content)) if (has(said)) return true;
  return false;
}

/** Messages that the parent of a call has too are found there. */
function* textsOf({ messages, answers }: PackedContent): Generator<string> {
  for (const message of messages ?? []) {
    yield textOf(message.content);
    for (const { function: called } of message.tool_calls ?? []) {
      yield called.name;
      yield called.arguments;
    }
  }
  for (const { content, reasoning, calls } of answers) {
    yield content;
    yield reasoning;
    for (const called of calls) {
      yield called.name;
      yield called.arguments;
    }
  }
}
