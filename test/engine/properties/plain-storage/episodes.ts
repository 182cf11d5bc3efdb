// The slow, simple reference for sql/episodes.ts.
import { episodeRows } from '#domain/blob-names';
import {
  addedTokens,
  callBytes,
  EPISODE_STATUSES,
  episodeBytes,
  sampledTokens,
  type Episode,
  type EpisodeBounds,
  type EpisodeStatus,
  type NewEpisode,
  type StoredEpisodeCall,
} from '#domain/episode';
import { AppError } from '#domain/errors';
import type { Payer } from '#storage/account-store';
import type { CompleteGroup, EpisodeEnd, EpisodeFilter, EpisodeRefusal, EpisodeStore } from '#storage/episode-store';
import type { ReadEpisode } from '#storage/storage';
import type { Accounts } from './accounts.ts';
import { paginate } from './page.ts';
import { asJson } from './tables.ts';

export interface Episodes {
  readonly store: EpisodeStore;
  /** For the inventory. */
  rows(): { episodes: readonly Episode[]; episodeCalls: readonly StoredEpisodeCall[] };
  removeModel(id: string): void;
  /** As `markTrained` of sql/episodes.ts: throws before anything has changed. */
  markTrained(job: { id: string; modelId: string; createdAtMs: number }, episodes: readonly ReadEpisode[]): void;
  /** As that of sql/episodes-of-jobs.ts. */
  releaseTrained(jobId: string): void;
}

type Row = Episode & { activeAtMs: number };

export function createEpisodes(
  accounts: Pick<Accounts, 'chargeWithin' | 'forget'>,
  isModel: (id: string) => boolean,
  isUnfinished: (jobId: string) => boolean,
): Episodes {
  let rows: Row[] = [];
  let calls: StoredEpisodeCall[] = [];

  const shown = ({ activeAtMs: _, ...episode }: Row): Episode => episode;
  const find = (id: string) => rows.find((row) => row.id === id) ?? null;
  const named = (modelId: string, name: string) =>
    rows.find((row) => row.modelId === modelId && row.name === name) ?? null;
  const fits = (row: Episode, payer: Payer) =>
    accounts.chargeWithin({ blob: episodeRows(row.id), entity: row.entity, sizeBytes: episodeBytes(row) }, payer);
  const put = (row: Row) => {
    rows = find(row.id) ? rows.map((each) => (each.id === row.id ? row : each)) : [...rows, row];
  };

  function begun(of: NewEpisode, { openMax }: EpisodeBounds, nowMs: number): Row | EpisodeRefusal {
    if (!isModel(of.modelId)) return 'no_model';
    if (rows.filter(({ entity, status }) => entity === of.entity && status === 'open').length >= openMax)
      return 'too_many_open';
    return {
      ...asJson(of),
      ...{ status: 'open', outcome: null, reward: null, metrics: {}, turnRewards: {} },
      ...{ createdAtMs: nowMs, lastCallAtMs: null, rewardedAtMs: null, expiredAtMs: null, activeAtMs: nowMs },
      ...{ trainedBy: null, callCount: 0, tokenCount: 0, trainedTokenCount: 0, callBytes: 0 },
    };
  }

  function remove(ids: readonly string[]): void {
    rows = rows.filter(({ id }) => !ids.includes(id));
    calls = calls.filter(({ episodeId }) => !ids.includes(episodeId));
    for (const id of ids) accounts.forget(episodeRows(id));
  }

  const store: EpisodeStore = {
    async create(episode, bounds, payer, nowMs) {
      const existing = named(episode.modelId, episode.name);
      if (existing) {
        const joins = existing.status === 'open' && existing.groupName === null;
        const joined = joins ? { ...existing, groupName: episode.groupName } : existing;
        put(joined);
        return { outcome: 'exists', episode: shown(joined) };
      }
      const row = begun(episode, bounds, nowMs);
      if (typeof row === 'string') return { outcome: row };
      if (!fits(row, payer)) return { outcome: 'over_limit' };
      put(row);
      return { outcome: 'created', episode: shown(row) };
    },
    async capture(call, of, bounds, payer) {
      const known = calls.find(({ id }) => id === call.id);
      if (known) return { outcome: 'stored', episode: shown(find(known.episodeId)!), ordinal: known.ordinal };
      const { isBegun = false, ...fresh } = of;
      const existing = named(of.modelId, of.name);
      if (isBegun && existing?.id !== of.id) return { outcome: 'gone' };
      const before = existing ?? begun(fresh, bounds, call.createdAtMs);
      if (typeof before === 'string') return { outcome: before };
      if (before.status !== 'open') return { outcome: 'ended', episode: shown(before) };
      if (before.groupName !== null && of.groupName !== null && before.groupName !== of.groupName)
        return { outcome: 'other_group', episode: shown(before) };
      if (before.callCount >= bounds.callsMax) return { outcome: 'too_many_calls' };
      const tokenCount = before.tokenCount + addedTokens(call);
      if (tokenCount > bounds.tokensMax) return { outcome: 'too_many_tokens' };
      const row: Row = {
        ...before,
        groupName: before.groupName ?? of.groupName,
        lastCallAtMs: call.createdAtMs,
        activeAtMs: call.createdAtMs,
        callCount: before.callCount + 1,
        tokenCount,
        trainedTokenCount: before.trainedTokenCount + (call.isTrainable ? sampledTokens(call.choices) : 0),
        callBytes: before.callBytes + callBytes(call),
      };
      if (!fits(row, payer)) return { outcome: 'over_limit' };
      put(row);
      calls.push({ ...call, episodeId: row.id, ordinal: before.callCount });
      return { outcome: 'stored', episode: shown(row), ordinal: before.callCount };
    },
    mayBegin: async (entity, openMax) =>
      rows.filter((row) => row.entity === entity && row.status === 'open').length < openMax,
    async find(id) {
      const row = find(id);
      return row && shown(row);
    },
    findByName: async (entity, name, limit) =>
      rows
        .filter((row) => row.entity === entity && row.name === name)
        .slice(0, limit)
        .map(shown),
    async findOfModel(modelId, name) {
      const row = named(modelId, name);
      return row && shown(row);
    },
    async list(filter, page, order = 'asc') {
      const oldestFirst = rows.filter((row) => row.entity === filter.entity).map(shown);
      const own = order === 'asc' ? oldestFirst : oldestFirst.toReversed();
      return paginate(own, own.filter(isIn(filter)), page);
    },
    calls: async (episodeId, from, limit, parts) =>
      calls
        .filter((call) => call.episodeId === episodeId && call.ordinal >= from)
        .sort((a, b) => a.ordinal - b.ordinal)
        .slice(0, limit)
        .map((call) => ({
          ...call,
          tokens: parts.includes('tokens') ? call.tokens : new Uint8Array(),
          content: parts.includes('content') ? call.content : new Uint8Array(),
        })),
    async reward(id, end, nowMs) {
      const before = find(id);
      if (!before) return null;
      const { status } = before;
      const { outcome, reward, metrics, turnRewards, groupName, metadata }: EpisodeEnd = end;
      const change = asJson({
        ...{ outcome, reward, metrics, turnRewards },
        groupName: groupName ?? before.groupName,
        metadata: metadata ?? before.metadata,
      });
      const isSame = (Object.keys(change) as (keyof typeof change)[]).every(
        (key) => JSON.stringify(change[key]) === JSON.stringify(before[key]),
      );
      if (isSame && before.reward !== null) return { outcome: 'same', episode: shown(before) };
      if (status === 'trained' || status === 'expired') return { outcome: status, episode: shown(before) };
      const rewardedAtMs = before.rewardedAtMs === null ? nowMs : Math.max(nowMs, before.rewardedAtMs + 1);
      const row: Row = { ...before, ...change, status: 'rewarded', rewardedAtMs, activeAtMs: nowMs };
      fits(row, UNLIMITED);
      put(row);
      return { outcome: 'rewarded', episode: shown(row) };
    },
    async groups(modelId, limit, wanted) {
      const freshIn = (name: string, { stepMin = 0 }: CompleteGroup) => {
        const isOld = (id: string) =>
          calls.some(
            ({ episodeId, isTrainable, isCut, policyStep }) =>
              episodeId === id && isTrainable && !isCut && policyStep! < stepMin,
          );
        return inGroups.filter((row) => row.groupName === name && row.status === 'rewarded' && !isOld(row.id)).length;
      };
      const inGroups = rows.filter((row) => row.modelId === modelId && row.groupName !== null);
      return [...new Set(inGroups.map(({ groupName }) => groupName!))]
        .map((name) => {
          const members = inGroups.filter(({ groupName }) => groupName === name);
          const count = (status: EpisodeStatus) => members.filter((row) => row.status === status).length;
          const rewards = members.filter((row) => row.status === 'rewarded').map(({ reward }) => reward);
          return {
            ...{ modelId, name, open: count('open'), rewarded: count('rewarded') },
            ...{ trained: count('trained'), expired: count('expired'), rewardsDiffer: new Set(rewards).size > 1 },
          };
        })
        .filter(({ open, rewarded }) => open + rewarded > 0)
        .filter(({ open, rewarded, name }) => {
          if (!wanted) return true;
          const { state, rewardedMin, isTrainable = false } = wanted;
          const isTrained = inGroups.some(
            (row) => row.groupName === name && row.status === 'rewarded' && row.trainedTokenCount > 0,
          );
          if (open > 0 || rewarded < rewardedMin || (isTrainable && !isTrained)) return state === 'incomplete';
          return state === (freshIn(name, wanted) < rewardedMin ? 'stale' : 'complete');
        })
        .slice(0, limit);
    },
    rewardedIds: async (modelId, groupName) =>
      rows
        .filter((row) => row.modelId === modelId && row.groupName === groupName && row.status === 'rewarded')
        .map(({ id }) => id),
    async delete(id) {
      const existed = find(id) !== null;
      remove([id]);
      return existed;
    },
    async expire(activeBeforeMs, nowMs, limit) {
      const due = rows
        .filter(({ activeAtMs, trainedBy }) => activeAtMs < activeBeforeMs && !isUnfinished(trainedBy ?? ''))
        .sort((a, b) => a.activeAtMs - b.activeAtMs)
        .slice(0, limit);
      const over = due.filter(({ status }) => status === 'trained' || status === 'expired').map(({ id }) => id);
      remove(over);
      const expiring = due.filter(({ id }) => !over.includes(id));
      for (const row of expiring) {
        calls = calls.filter(({ episodeId }) => episodeId !== row.id);
        const expired: Row = { ...row, status: 'expired', expiredAtMs: nowMs, activeAtMs: nowMs, callBytes: 0 };
        fits(expired, UNLIMITED);
        put(expired);
      }
      return { expired: expiring.length, deleted: over.length };
    },
    count: async (filter, most) => countsOf(rows.filter(isIn(filter)), most),
    countByStatus: async () => countsOf(rows, Infinity),
  };

  return {
    store,
    rows: () => ({ episodes: rows.map(shown), episodeCalls: calls }),
    removeModel: (id) => remove(rows.filter(({ modelId }) => modelId === id).map((row) => row.id)),
    releaseTrained(jobId) {
      rows = rows.map((row) =>
        row.trainedBy === jobId && row.status === 'trained' ? { ...row, status: 'rewarded', trainedBy: null } : row,
      );
    },
    markTrained({ id: jobId, modelId, createdAtMs }, episodes) {
      for (const { id, rewardedAtMs } of episodes) {
        const row = find(id);
        if (row?.modelId === modelId && row.status === 'rewarded' && row.rewardedAtMs === rewardedAtMs) continue;
        throw new AppError('episode_conflict', `Episode ${id} has not this reward of this model.`);
      }
      for (const { id } of episodes)
        put({ ...find(id)!, status: 'trained', trainedBy: jobId, activeAtMs: createdAtMs });
    },
  };
}

const UNLIMITED: Payer = { keyId: '', keyBytesMax: null, entityBytesMax: null };

const isIn =
  ({ entity, modelId, group, status, trainedBy, rewardMin, rewardMax }: EpisodeFilter) =>
  (row: Episode): boolean =>
    row.entity === entity &&
    row.modelId === (modelId ?? row.modelId) &&
    row.groupName === (group ?? row.groupName) &&
    row.status === (status ?? row.status) &&
    row.trainedBy === (trainedBy ?? row.trainedBy) &&
    (rewardMin === undefined || (row.reward !== null && row.reward >= rewardMin)) &&
    (rewardMax === undefined || (row.reward !== null && row.reward <= rewardMax));

function countsOf(rows: readonly Episode[], most: number): Record<EpisodeStatus, number> {
  const of = (status: EpisodeStatus) => Math.min(most, rows.filter((row) => row.status === status).length);
  return Object.fromEntries(EPISODE_STATUSES.map((status) => [status, of(status)])) as Record<EpisodeStatus, number>;
}
