// Episodes: begin one, reward it, read it, delete it. Its calls are requests to any generating endpoint that name it
// (http/episode-address.ts).
import type { Episode } from '#domain/episode';
import type { EpisodeNamed } from '#services/episodes/episodes';
import { warned } from '#validation/unknown-fields';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { envelope, toEnvelope, toPage } from '../http/listing.ts';
import { ownAddress } from '../http/own-address.ts';
import {
  callsQuery,
  callTokensResponse,
  changedEpisode,
  createdEpisode,
  createEpisode,
  deletedEpisode,
  episodeList,
  episodeQuery,
  episodeWithCalls,
  listEpisodesQuery,
  readCreateEpisode,
  readRewardEpisode,
  rewardEpisode,
  toCallResponse,
  toCallTokensResponse,
  toEpisodeFilter,
  toEpisodeResponse,
} from './episode.ts';

const EPISODE = '/v1/preview/episodes/{episode}';

const namedBy = (
  params: Readonly<Record<string, string>>,
  { model_id: modelId = null }: { model_id?: string | null | undefined },
): EpisodeNamed => ({ named: params.episode!, modelId });

/** Base URLs whose calls belong to the episode. */
function addressesOf({ name, groupName }: Episode, server: string) {
  const base = `${server}/e/${groupName === null ? '' : `${groupName}/`}${name}`;
  return { base_url: `${base}/v1`, anthropic_base_url: base };
}

export function episodeRoutes({ episodes }: Pick<ApiServices, 'episodes'>, { basePath }: ApiLimits): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/preview/episodes',
      tag: 'Episodes',
      summary: 'Begin an episode, or find the one of this name. Not needed: a call that names an episode begins it',
      access: 'train',
      errors: [400, 404, 409, 429],
      creates: true,
      body: { schema: createEpisode, read: readCreateEpisode },
      answer: createdEpisode,
      async handle({ caller, body: { start, warnings }, newId, request }) {
        const { episode, isNew } = await episodes.create(caller, start, newId);
        const { metadata } = start;
        const isUnused = !isNew && metadata !== null && JSON.stringify(metadata) !== JSON.stringify(episode.metadata);
        const ignored = [
          ...(isUnused ? ['metadata was not used: the episode existed already.'] : []),
          ...(episode.status === 'open'
            ? []
            : [`The episode is ${episode.status}, and takes no more calls. Begin one with another name.`]),
        ];
        const addresses = addressesOf(episode, ownAddress(request, basePath));
        return { ...toEpisodeResponse(episode), ...addresses, ...warned([...warnings, ...ignored]) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/preview/episodes',
      tag: 'Episodes',
      summary: 'List your episodes, newest first. Can be filtered by model, group, status, job, reward and text',
      access: 'read',
      query: listEpisodesQuery,
      answer: episodeList,
      async handle({ caller, query }) {
        const { search, order } = query;
        const filter = toEpisodeFilter(query);
        const found = await episodes.list(caller, filter, search || null, toPage(query), order);
        return {
          ...toEnvelope(found, toEpisodeResponse),
          counts: search ? null : await episodes.count(caller, filter),
        };
      },
    }),
    endpoint({
      method: 'GET',
      path: EPISODE,
      tag: 'Episodes',
      summary: 'Read an episode, by its id or name, with its calls. `after` and `limit` page through the calls',
      access: 'read',
      errors: [400, 404, 409],
      query: callsQuery,
      answer: episodeWithCalls,
      async handle({ caller, params, query }) {
        const named = namedBy(params, query);
        const episode = await episodes.get(caller, named);
        const { rows, hasMore } = await episodes.calls(caller, named, toPage(query));
        return { ...toEpisodeResponse(episode), calls: rows.map(toCallResponse), has_more: hasMore };
      },
    }),
    endpoint({
      method: 'GET',
      path: `${EPISODE}/tokens`,
      tag: 'Episodes',
      summary:
        'List the calls of an episode with the tokens that were sampled. A page may have fewer than `limit` items if they are large',
      access: 'read',
      errors: [400, 404, 409],
      query: callsQuery,
      answer: envelope(callTokensResponse),
      async handle({ caller, params, query }) {
        const { textsOf, ...calls } = await episodes.tokens(caller, namedBy(params, query), toPage(query));
        return toEnvelope(calls, (call) => toCallTokensResponse(call, textsOf));
      },
    }),
    endpoint({
      method: 'POST',
      path: `${EPISODE}/reward`,
      tag: 'Episodes',
      summary: 'Reward an episode, which ends it. Another reward replaces it until a job has used it',
      access: 'train',
      errors: [400, 404, 409],
      query: episodeQuery,
      body: { schema: rewardEpisode, read: readRewardEpisode },
      answer: changedEpisode,
      async handle({ caller, params, query, body: { given, warnings } }) {
        const episode = await episodes.reward(caller, namedBy(params, query), given);
        return { ...toEpisodeResponse(episode), ...warned(warnings) };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: EPISODE,
      tag: 'Episodes',
      summary: 'Delete an episode and its calls',
      access: 'train',
      errors: [404, 409],
      query: episodeQuery,
      answer: deletedEpisode,
      async handle({ caller, params, query }) {
        const { id } = await episodes.delete(caller, namedBy(params, query));
        return { id, object: 'episode', deleted: true };
      },
    }),
  ];
}
