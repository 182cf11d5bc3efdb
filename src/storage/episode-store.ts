// Episodes and their calls. Part of storage.ts; deleted with their model. Tokens and texts are packed bytes here.
import type {
  Episode,
  EpisodeBounds,
  EpisodeGroup,
  EpisodeReward,
  EpisodeStatus,
  NewEpisode,
  NewEpisodeCall,
  StoredEpisodeCall,
} from '#domain/episode';
import type { Listing, Order, Page } from '#domain/page';
import type { Payer } from './account-store.ts';

export interface EpisodeFilter {
  readonly entity: string;
  readonly modelId?: string;
  readonly group?: string;
  readonly status?: EpisodeStatus;
  /** Id of the job that used them. */
  readonly trainedBy?: string;
  /** Episodes without a reward are in no range. */
  readonly rewardMin?: number;
  readonly rewardMax?: number;
}

export type EpisodeRefusal =
  /** Of the entity's open episodes, or of the episode's calls or tokens. */
  | 'too_many_open'
  | 'too_many_calls'
  | 'too_many_tokens'
  /** The payer may not store this. */
  | 'over_limit'
  /** The model was deleted. */
  | 'no_model';

export type CreateOutcome =
  { readonly outcome: 'created' | 'exists'; readonly episode: Episode } | { readonly outcome: EpisodeRefusal };

export type CaptureOutcome =
  | { readonly outcome: 'stored'; readonly episode: Episode; readonly ordinal: number }
  /** It has a reward, was trained, or has expired. */
  | { readonly outcome: 'ended'; readonly episode: Episode }
  /** The episode is in another group. */
  | { readonly outcome: 'other_group'; readonly episode: Episode }
  /** The episode was deleted meanwhile. */
  | { readonly outcome: 'gone' }
  | { readonly outcome: EpisodeRefusal };

export type RewardOutcome =
  /** `same`: nothing has changed, also if it was trained or has expired since. */
  | { readonly outcome: 'rewarded' | 'same'; readonly episode: Episode }
  /** Nothing has changed: a job has used it, or its calls are gone. */
  | { readonly outcome: 'trained' | 'expired'; readonly episode: Episode };

export interface EpisodeEnd extends EpisodeReward {
  /** Undefined: as it is. */
  readonly groupName?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The episode to which a call is added. */
export interface CaptureTarget extends NewEpisode {
  /** It existed, with this `id`, when the call found its place in it. */
  readonly isBegun?: boolean;
}

/** A group is complete if it has enough rewarded episodes and no open one. */
export interface CompleteGroup {
  /** At least so many rewarded episodes. */
  readonly rewardedMin: number;
  /** Those count whose trained calls all come from this step or a later one. Undefined: all. */
  readonly stepMin?: number | undefined;
  /** At least one of them has a call that is trained. */
  readonly isTrainable?: true | undefined;
}

/** `stale`: complete, but for the steps that sampled its episodes. `incomplete`: neither. */
export type GroupState = 'complete' | 'stale' | 'incomplete';

export interface GroupsWanted extends CompleteGroup {
  readonly state: GroupState;
}

/** What to read of calls in addition to their rows. */
export type CallParts = readonly ('tokens' | 'content')[];

export interface EpisodeStore {
  /** `exists`: the model has an episode of this name, which is returned. If it is open and in no group, it joins this one. */
  create(episode: NewEpisode, bounds: EpisodeBounds, payer: Payer, nowMs: number): Promise<CreateOutcome>;
  /**
   * Adds a call to the episode of this model and name, which is created if there is none (a group that is named later is noted). Once
   * per call id: a repeat is `stored` and changes nothing.
   */
  capture(call: NewEpisodeCall, of: CaptureTarget, bounds: EpisodeBounds, payer: Payer): Promise<CaptureOutcome>;
  /** Whether the entity has fewer open episodes than this. */
  mayBegin(entity: string, openMax: number): Promise<boolean>;
  find(id: string): Promise<Episode | null>;
  /** One for each of the entity's models that has an episode of this name; oldest first. */
  findByName(entity: string, name: string, limit: number): Promise<readonly Episode[]>;
  findOfModel(modelId: string, name: string): Promise<Episode | null>;
  /** In order of creation, or newest first. */
  list(filter: EpisodeFilter, page: Page, order?: Order): Promise<Listing<Episode>>;
  /** By ordinal, from this one on. */
  calls(episodeId: string, from: number, limit: number, parts: CallParts): Promise<readonly StoredEpisodeCall[]>;
  /** Ends an open episode, or replaces the reward of a rewarded one, with its webhook deliveries. Null: there is no such episode. */
  reward(id: string, end: EpisodeEnd, nowMs: number): Promise<RewardOutcome | null>;
  /** Of one model: the groups with an open or rewarded episode, in order of each group's first episode. */
  groups(modelId: string, limit: number, wanted?: GroupsWanted): Promise<readonly EpisodeGroup[]>;
  /** The rewarded episodes of one group, oldest first. */
  rewardedIds(modelId: string, groupName: string): Promise<readonly string[]>;
  /** With its calls and its charge; a group that is complete without it has its webhook deliveries. Returns whether it existed. */
  delete(id: string, nowMs: number): Promise<boolean>;
  /**
   * Of episodes with no activity since then, oldest first: open and rewarded ones expire, which deletes their calls; trained ones
   * (unless their job has not ended) and expired ones are deleted. As for `delete`, groups may be complete then. Returns how many.
   */
  expire(activeBeforeMs: number, nowMs: number, limit: number): Promise<{ expired: number; deleted: number }>;
  /** By status, each only as far as `most`. */
  count(filter: Omit<EpisodeFilter, 'status'>, most: number): Promise<Readonly<Record<EpisodeStatus, number>>>;
  /** Of all entities. */
  countByStatus(): Promise<Readonly<Record<EpisodeStatus, number>>>;
}
