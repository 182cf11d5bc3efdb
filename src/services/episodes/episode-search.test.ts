import { expect, test } from 'vitest';
import type { Episode } from '#domain/episode';
import type { EpisodeStore } from '#storage/episode-store';
import { packContent } from './call-content.ts';
import { searchEpisodes } from './episode-search.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Every episode has one call of ten bytes, which says its name twice. */
const episodes = NAMES.map(
  (name): Episode =>
    ({
      id: `id-${name}`,
      name: '-',
      groupName: null,
      metadata: {},
      callCount: 1,
      callBytes: 10,
      expiredAtMs: null,
      label: name,
    }) as never,
);
const store = {
  async list(_: unknown, { after, limit }: { after: string | null; limit: number }) {
    const from = episodes.findIndex(({ id }) => id === after) + 1;
    return { rows: episodes.slice(from, from + limit), hasMore: from + limit < episodes.length };
  },
  async calls(id: string) {
    const answers = [{ content: id.slice(3).repeat(2), reasoning: '', calls: [] }];
    const packed = { messages: null, tools: null, sampling: {}, template: {}, sharedMessages: 0, sharesTools: false };
    return [{ content: await packContent({ ...packed, answers }) }];
  },
} as unknown as EpisodeStore;

const search = (text: string, after: string | null, budget: { bytes: number; episodes: number }) =>
  searchEpisodes(store, { entity: 'team' }, text, { after, limit: 2 }, 'asc', budget);

test('a page of a search ends at its budget, says where, and the next one goes on there', async () => {
  for (const budget of [
    { bytes: 20, episodes: 100 },
    { bytes: 1e9, episodes: 2 },
  ]) {
    expect(await search('EE', null, budget)).toEqual({ rows: [], hasMore: true, cursor: 'id-b' });
    expect(await search('EE', 'id-b', budget)).toEqual({ rows: [], hasMore: true, cursor: 'id-d' });
    expect(await search('EE', 'id-d', budget)).toEqual({ rows: [episodes[4]], hasMore: false });
  }
});

test('a page of a search ends at its limit, and at the end of the list', async () => {
  const budget = { bytes: 1e9, episodes: 100 };
  expect(await search('-', null, budget)).toMatchObject({ rows: episodes.slice(0, 2), hasMore: true, cursor: 'id-b' });
  expect(await search('-', 'id-d', budget)).toEqual({ rows: episodes.slice(4), hasMore: false });
  expect(await search('nobody', null, budget)).toEqual({ rows: [], hasMore: false });
});
