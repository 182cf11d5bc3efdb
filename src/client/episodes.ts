// Episodes: an address for an agent, whose calls the server records, and a reward for what the agent did.
import type {
  CreatedEpisode,
  EpisodeCall,
  EpisodeCallTokens,
  EpisodeData,
  EpisodeFilter,
  EpisodeRequest,
  EpisodeWithCalls,
  OnlineTraining,
  OnlineTrainingRequest,
  RewardRequest,
} from './episode-wire.ts';
import type { Http } from './http.ts';
import { segment } from './paths.ts';
import { insist, SHORT } from './retry.ts';
import type { Model } from './model-wire.ts';

/** An episode by its id, or by its name; `modelId` is needed if several models have an episode of that name. */
export interface EpisodeNamed {
  readonly modelId?: string;
}

export interface EpisodeOptions {
  /** The trained model: `project/name`, `entity/project/name`, or its id. */
  readonly model: string;
  /** Default: made up by the server. */
  readonly name?: string;
  /** Episodes at the same task, whose rewards are compared. */
  readonly group?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** One run of an agent. Give the agent `baseUrl` (or `anthropicBaseUrl`) and the key; then call `reward`. */
export interface Episode {
  readonly id: string;
  readonly name: string;
  readonly group: string | null;
  readonly modelId: string;
  /** For OpenAI clients. */
  readonly baseUrl: string;
  /** For Anthropic clients. */
  readonly anthropicBaseUrl: string;
  /** Instead of an address of its own: headers for any client. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Ends the episode; true is 1. The same reward again changes nothing, so it is sent again through a restart of the server; another one
   * replaces it until a job has used it.
   */
  reward(reward: number | boolean | RewardRequest): Promise<EpisodeData>;
  read(): Promise<EpisodeData>;
  calls(): AsyncGenerator<EpisodeCall>;
  delete(): Promise<void>;
}

/** In the server's own form. */
const madeUpName = (): string => `episode-${crypto.randomUUID().replaceAll('-', '').slice(0, 18)}`;

const outlast = <T>(ask: () => Promise<T>): Promise<T> => insist(ask, undefined, undefined, SHORT);

const onlinePath = (modelId: string): string => `/v1/preview/models/${encodeURIComponent(modelId)}/online-training`;

export function createEpisodeCalls({ call, rows }: Http) {
  const pathOf = (named: string, { modelId }: EpisodeNamed = {}, rest = '') =>
    `/v1/preview/episodes/${segment(named)}${rest}${modelId === undefined ? '' : `?model_id=${encodeURIComponent(modelId)}`}`;

  async function rewardEpisode(named: string, given: RewardRequest, of: EpisodeNamed = {}): Promise<EpisodeData> {
    const { reward } = given;
    if (typeof reward === 'number' && !Number.isFinite(reward))
      throw new TypeError(`The reward of the episode ${named} is ${reward}, which is not a number.`); // JSON has null for it
    return call('POST', pathOf(named, of, '/reward'), { body: given });
  }
  const getEpisode = (named: string, of: EpisodeNamed = {}): Promise<EpisodeWithCalls> =>
    call('GET', pathOf(named, of));
  const deleteEpisode = (named: string, of: EpisodeNamed = {}): Promise<{ id: string; deleted: true }> =>
    call('DELETE', pathOf(named, of));
  const createEpisode = (request: EpisodeRequest): Promise<CreatedEpisode> =>
    call('POST', '/v1/preview/episodes', { body: request });

  /** All of its calls, in order. */
  async function* listEpisodeCalls(named: string, { modelId }: EpisodeNamed = {}): AsyncGenerator<EpisodeCall> {
    for (let after: string | undefined; ;) {
      const query = new URLSearchParams({
        limit: '100',
        ...(after === undefined ? {} : { after }),
        ...(modelId === undefined ? {} : { model_id: modelId }),
      });
      const page: EpisodeWithCalls = await call('GET', `${pathOf(named)}?${query}`);
      yield* page.calls;
      after = page.calls.at(-1)?.id;
      if (!page.has_more || after === undefined) return;
    }
  }

  async function modelIdOf(name: string): Promise<string> {
    if (!name) throw new TypeError('No model. Name it project/name.');
    const parts = name.replace(/^wandb-artifact:\/\/\/?/, '').split('/');
    if (parts.length === 1) return name;
    const [model, project, entity] = parts.reverse() as [string, string, string?];
    const found = rows<Model>('/v1/preview/models', { project, name: model.replace(/[:@].*$/, '') });
    for await (const each of found) if (entity === undefined || entity === each.entity) return each.id;
    throw new TypeError(`No model ${name}. Register it first, and name it project/name.`);
  }

  /** Sent again, the request finds the episode of this name. */
  async function episode({ model, name: asked, ...start }: EpisodeOptions): Promise<Episode> {
    const modelId = await outlast(() => modelIdOf(model));
    const wanted = { model_id: modelId, name: asked ?? madeUpName(), ...start };
    const made = await outlast(() => createEpisode(wanted));
    const { id, name, group } = made;
    return {
      ...{ id, name, group, modelId: made.model_id, baseUrl: made.base_url, anthropicBaseUrl: made.anthropic_base_url },
      headers: { 'X-Whetstone-Episode': name, ...(group === null ? {} : { 'X-Whetstone-Group': group }) },
      reward: (reward) => {
        const given = typeof reward === 'object' ? reward : { reward: Number(reward) };
        return outlast(() => rewardEpisode(id, given));
      },
      read: () => call('GET', `${pathOf(id)}?limit=1`), // without all that was said
      calls: () => listEpisodeCalls(id),
      delete: async () => void (await deleteEpisode(id)),
    };
  }

  return {
    /** Begins an episode: an address for the agent, and a reward when it is done. */
    episode,
    createEpisode,
    /** With its first calls; `listEpisodeCalls` returns all of them. */
    getEpisode,
    /** Newest first. `search`: a text in names, metadata, messages, answers or tool calls. */
    listEpisodes: ({ reward_min: min, reward_max: max, ...filter }: EpisodeFilter = {}) =>
      rows<EpisodeData>('/v1/preview/episodes', {
        ...filter,
        reward_min: min?.toString(),
        reward_max: max?.toString(),
      }),
    listEpisodeCalls,
    /** The tokens that were sampled, call by call. */
    listEpisodeTokens: (named: string, { modelId }: EpisodeNamed = {}) =>
      rows<EpisodeCallTokens>(pathOf(named, {}, '/tokens'), modelId === undefined ? {} : { model_id: modelId }),
    rewardEpisode,
    deleteEpisode,
    /** The server makes a job of the model whenever enough groups of episodes are complete. Begins it, or changes its settings. */
    setOnlineTraining: (modelId: string, request: OnlineTrainingRequest = {}): Promise<OnlineTraining> =>
      call('PUT', onlinePath(modelId), { body: request }),
    /** What the next step waits for. */
    getOnlineTraining: (modelId: string): Promise<OnlineTraining> => call('GET', onlinePath(modelId)),
    /** A job that it has made runs on. */
    deleteOnlineTraining: (modelId: string): Promise<{ model_id: string; deleted: true }> =>
      call('DELETE', onlinePath(modelId)),
  };
}
