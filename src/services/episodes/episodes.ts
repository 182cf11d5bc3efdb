// Episodes as their owners see them: begin, reward, read, delete; and their expiry. recorder.ts adds their calls.
import { randomBytes } from 'node:crypto';
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import {
  episodeNameProblem,
  isEpisodeId,
  type Episode,
  type EpisodeBounds,
  type EpisodeReward,
  type EpisodeStatus,
} from '#domain/episode';
import { AppError } from '#domain/errors';
import { COUNTED_MAX, PAGE_WEIGHT_MAX, unknownCursor, type Listing, type Order, type Page } from '#domain/page';
import type { EpisodeFilter } from '#storage/episode-store';
import type { Storage } from '#storage/storage';
import { tokenTexts } from '#text/detokenizer';
import type { AccountLimits } from '../accounts/account-limits.ts';
import type { JobEvents } from '../jobs/job-events.ts';
import type { BaseModels } from '../models/base-models.ts';
import { getOwnModel } from '../models/own-model.ts';
import { searchEpisodes } from './episode-search.ts';
import { ambiguousName, ended, notFound, notRewardable, otherGroup, refusalOf } from './episode-errors.ts';
import type { EpisodeTrees } from './episode-trees.ts';
import { readCalls, readSaid, type ReadCall, type SaidCall } from './read-calls.ts';

export interface EpisodeStart {
  readonly modelId: string;
  /** Null: the server makes one up. */
  readonly name: string | null;
  readonly group: string | null;
  /** Null: none was named. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

export interface RewardGiven extends EpisodeReward {
  /** Null: as it is. */
  readonly group: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** An episode by its id, or by its name and, if several models have one of that name, its model. */
export interface EpisodeNamed {
  readonly named: string;
  readonly modelId: string | null;
}

/** All throw `episode_not_found`, also for another entity's episode, and `episode_conflict` for a name that several models have. */
export interface Episodes {
  /** Throws `model_not_found`, `invalid_request`, `too_many_requests`, `episode_conflict` (the name exists in another group). */
  create(caller: Caller, start: EpisodeStart, id: string): Promise<{ episode: Episode; isNew: boolean }>;
  /** Throws `episode_conflict` once a job has used it, or it has expired. */
  reward(caller: Caller, named: EpisodeNamed, reward: RewardGiven): Promise<Episode>;
  get(caller: Caller, named: EpisodeNamed): Promise<Episode>;
  /** `search`: only those that contain this text; null: all. A page of a search may be empty before the end: it has a `cursor`. */
  list(
    caller: Caller,
    filter: EpisodesWanted,
    search: string | null,
    page: Page,
    order: Order,
  ): Promise<Listing<Episode>>;
  /** Of all pages of a list, by status, whatever status it asks for; COUNTED_MAX + 1: there are more. */
  count(caller: Caller, filter: EpisodesWanted): Promise<Readonly<Record<EpisodeStatus, number>>>;
  /** In order; with the messages that a call's parent does not have. The cursor is a call's id. */
  calls(caller: Caller, named: EpisodeNamed, page: Page): Promise<Listing<SaidCall>>;
  tokens(caller: Caller, named: EpisodeNamed, page: Page): Promise<Listing<ReadCall> & { textsOf: TextsOf | null }>;
  delete(caller: Caller, named: EpisodeNamed): Promise<Episode>;
  /** Expires what had no activity for this long, and deletes what expired as long ago. */
  expire(keepMs: number): Promise<void>;
}

export type EpisodesWanted = Omit<EpisodeFilter, 'entity'>;

/** What each token completes, in the tokenizer of the episode's model. */
export type TextsOf = (tokens: Iterable<number>) => string[];

export interface EpisodesDeps {
  readonly storage: Storage;
  readonly baseModels: Pick<BaseModels, 'find'>;
  readonly trees: EpisodeTrees;
  readonly limits: Pick<AccountLimits, 'storing'>;
  readonly bounds: EpisodeBounds;
  readonly jobEvents: Pick<JobEvents, 'notify'>;
  readonly clock: Clock;
  readonly log: Log;
}

const SAME_NAME_MAX = 20;
const EXPIRED_AT_ONCE = 100;
/** Bytes of JSON per token in an answer: a number; or a number, a log-probability and a text. */
const PROMPT_TOKEN_WEIGHT = 7;
const SAMPLED_TOKEN_WEIGHT = 40;

export function createEpisodes(deps: EpisodesDeps): Episodes {
  const { storage, baseModels, trees, limits, bounds, jobEvents, clock, log } = deps;
  const store = storage.episodes;

  async function get(caller: Caller, { named, modelId }: EpisodeNamed): Promise<Episode> {
    const found = isEpisodeId(named) ? await store.find(named) : await byName(caller, named, modelId);
    if (found?.entity === caller.entity && found.modelId === (modelId ?? found.modelId)) return found;
    throw notFound(named);
  }

  async function byName({ entity }: Caller, name: string, modelId: string | null): Promise<Episode | null> {
    if (modelId !== null) return store.findOfModel(modelId, name);
    const all = await store.findByName(entity, name, SAME_NAME_MAX);
    if (all.length > 1) throw ambiguousName(name, all, 'read');
    return all[0] ?? null;
  }

  async function checkTurns({ id, name }: Episode, turnRewards: EpisodeReward['turnRewards']): Promise<void> {
    const asked = Object.keys(turnRewards);
    if (asked.length === 0) return;
    const known = new Set((await store.calls(id, 0, bounds.callsMax, [])).map(({ answerId }) => answerId));
    const unknown = asked.find((answerId) => !known.has(answerId));
    if (unknown === undefined) return;
    const message = `turn_rewards: the episode \`${name}\` has no answer with the id \`${unknown.slice(0, 100)}\`. Use the \`id\` of the answers that it got.`;
    throw new AppError('invalid_request', message, { param: 'turn_rewards' });
  }

  return {
    async create(caller, { modelId, name, group, metadata }, id) {
      await getOwnModel(storage, caller, modelId);
      const start = {
        ...{ id, entity: caller.entity, modelId, groupName: group, metadata: metadata ?? {} },
        name: name ?? `episode-${randomBytes(9).toString('hex')}`,
      };
      const made = await limits.storing(caller, ({ payer }) => store.create(start, bounds, payer, clock.now()));
      if (!('episode' in made)) throw refusalOf(made.outcome, start.name, bounds);
      const { episode } = made;
      if (group !== null && episode.groupName !== group)
        throw episode.groupName === null ? ended(episode) : otherGroup(episode, group);
      return { episode, isNew: made.outcome === 'created' || episode.id === id };
    },

    async reward(caller, named, { group, metadata, ...given }) {
      const before = await get(caller, named);
      if (before.status !== 'expired') await checkTurns(before, given.turnRewards); // of its calls nothing is known any more
      const end = {
        ...given,
        ...(group === null ? {} : { groupName: group }),
        ...(metadata === null ? {} : { metadata }),
      };
      const rewarded = await store.reward(before.id, end, clock.now());
      if (!rewarded) throw notFound(named.named);
      const { outcome, episode } = rewarded;
      if (outcome === 'trained' || outcome === 'expired') throw notRewardable(episode);
      if (outcome === 'rewarded') {
        trees.forget(episode.id);
        log.info('episode.rewarded', { episodeId: episode.id, modelId: episode.modelId, reward: given.reward });
        jobEvents.notify(episode.id); // wakes the sender of webhooks
      }
      return episode;
    },

    get,

    list(caller, filter, search, page, order) {
      const own = { ...filter, entity: caller.entity };
      return search === null ? store.list(own, page, order) : searchEpisodes(store, own, search, page, order);
    },

    count: ({ entity }, { status: _, ...filter }) => store.count({ ...filter, entity }, COUNTED_MAX + 1),

    async calls(caller, named, { after, limit }) {
      const episode = await get(caller, named);
      const rows = await readSaid(store, episode.id, await placeAfter(episode.id, after), limit + 1);
      return withinWeight(rows, limit, (call) => JSON.stringify(call.content).length);
    },

    async tokens(caller, named, { after, limit }) {
      const episode = await get(caller, named);
      const from = await placeAfter(episode.id, after);
      const rows: ReadCall[] = [];
      let weight = 0;
      for await (const call of readCalls(store, episode.id)) {
        if (call.ordinal < from) continue;
        rows.push(call);
        weight += tokenWeight(call);
        if (rows.length > limit || weight > PAGE_WEIGHT_MAX) break;
      }
      return { ...withinWeight(rows, limit, tokenWeight), textsOf: await textsOfModel(episode) };
    },

    async delete(caller, named) {
      const episode = await get(caller, named);
      await store.delete(episode.id, clock.now());
      trees.forget(episode.id);
      log.info('episode.deleted', { episodeId: episode.id, modelId: episode.modelId });
      jobEvents.notify(episode.id); // its group may be complete without it
      return episode;
    },

    async expire(keepMs) {
      const nowMs = clock.now();
      for (let [expired, deleted] = [0, 0]; ;) {
        const some = await store.expire(nowMs - keepMs, nowMs, EXPIRED_AT_ONCE);
        expired += some.expired;
        deleted += some.deleted;
        if (some.expired + some.deleted > 0) continue;
        if (expired + deleted > 0) log.info('episodes.expired', { expired, deleted });
        if (expired > 0) jobEvents.notify(null);
        return;
      }
    },
  };

  /** Null: the server does not have the base model. */
  async function textsOfModel({ modelId }: Episode): Promise<TextsOf | null> {
    const model = await storage.models.find(modelId);
    const tokenizer = model && baseModels.find(model.baseModel)?.text.tokenizer;
    return tokenizer ? (tokens) => tokenTexts(tokenizer, tokens) : null;
  }

  /** The ordinal after the cursor's call. */
  async function placeAfter(episodeId: string, after: string | null): Promise<number> {
    if (after === null) return 0;
    const found = (await store.calls(episodeId, 0, bounds.callsMax, [])).find(({ id }) => id === after);
    if (found) return found.ordinal + 1;
    throw unknownCursor(after);
  }
}

/** Throws `invalid_request`. `param` is the client's name for it, `what` that of the message. */
export function checkEpisodeName(name: string, param: string, what = param): void {
  const problem = episodeNameProblem(name);
  if (problem === null) return;
  throw new AppError('invalid_request', `${what} ${problem}; got ${JSON.stringify(name.slice(0, 150))}.`, { param });
}

const tokenWeight = ({ promptTokens, choices }: ReadCall): number =>
  PROMPT_TOKEN_WEIGHT * promptTokens.length +
  SAMPLED_TOKEN_WEIGHT * choices.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);

/** `rows` may have one more than `limit`. A page has at least one row, and ends before it becomes too heavy. */
function withinWeight<T>(rows: readonly T[], limit: number, weigh: (row: T) => number): Listing<T> {
  let weight = 0;
  const heavy = rows.findIndex((row, at) => (weight += weigh(row)) > PAGE_WEIGHT_MAX && at > 0);
  const count = heavy < 0 ? limit : Math.min(limit, heavy);
  return { rows: rows.slice(0, count), hasMore: rows.length > count };
}
