// Episodes: one run of an agent at one task, which is the calls that it made to models of the server and what the run was worth. Calls
// form trees by their tokens: a call keeps only what follows the beginning that it shares with its parent. Packing and unpacking the
// tokens is in services/episodes.

/** `open`: calls are added. `rewarded`: ended, may be trained. `trained`: a job has used it. `expired`: its calls were deleted by age. */
export const EPISODE_STATUSES = ['open', 'rewarded', 'trained', 'expired'] as const;
export type EpisodeStatus = (typeof EPISODE_STATUSES)[number];

export const EPISODE_OUTCOMES = ['completed', 'failed'] as const;
export type EpisodeOutcome = (typeof EPISODE_OUTCOMES)[number];

/** What the client says about an episode when it ends. */
export interface EpisodeReward {
  readonly outcome: EpisodeOutcome;
  readonly reward: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** By the id of the answer that the client saw. */
  readonly turnRewards: Readonly<Record<string, number>>;
}

export interface Episode {
  readonly id: string; // uuid
  readonly entity: string;
  /** The trained model. */
  readonly modelId: string;
  /** Chosen by the client; unique within the model. */
  readonly name: string;
  readonly groupName: string | null;
  readonly status: EpisodeStatus;
  /** Null until a reward arrives, as the reward. */
  readonly outcome: EpisodeOutcome | null;
  readonly reward: number | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly turnRewards: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly lastCallAtMs: number | null;
  readonly rewardedAtMs: number | null;
  readonly expiredAtMs: number | null;
  /** The job that used it. */
  readonly trainedBy: string | null;
  readonly callCount: number;
  /** Stored tokens: those that calls share count once. */
  readonly tokenCount: number;
  /** Sampled tokens among them, of calls that are trained. */
  readonly trainedTokenCount: number;
  /** What its calls occupy. */
  readonly callBytes: number;
}

export type NewEpisode = Pick<Episode, 'id' | 'entity' | 'modelId' | 'name' | 'groupName' | 'metadata'>;

export interface EpisodeChoice {
  readonly tokenCount: number;
  /** Null: cut off before its end. */
  readonly finishReason: string | null;
  /** Some tokens were sampled under a constraint. */
  readonly isConstrained: boolean;
}

/** One request and its answer, without the tokens and the texts. */
export interface EpisodeCall {
  readonly id: string; // uuid
  readonly episodeId: string;
  /** 0 is the episode's first call. */
  readonly ordinal: number;
  /** The `id` that the client saw. */
  readonly answerId: string;
  /** As the client may name it again. */
  readonly model: string;
  /** The step of the episode's model that sampled it. Null: another model did. */
  readonly policyStep: number | null;
  readonly isTrainable: boolean;
  /** Cut off before its end: kept, and not trained. */
  readonly isCut: boolean;
  /** Request fields that made the sampling distribution differ from the model's own. */
  readonly reshapedBy: readonly string[];
  readonly choices: readonly EpisodeChoice[];
  /** Its prompt begins as the prompt of this call, and its choice, do. Null: a tree begins here. */
  readonly parentId: string | null;
  /** Null: nothing of an answer is shared. */
  readonly parentChoice: number | null;
  /** So many tokens of the prompt are those of the parent. */
  readonly sharedTokenCount: number;
  /** All tokens of the prompt. */
  readonly promptTokenCount: number;
  readonly createdAtMs: number;
}

/** `tokens` and `content`: packed by services/episodes; empty where they were not asked for. */
export interface StoredEpisodeCall extends EpisodeCall {
  readonly tokens: Uint8Array;
  readonly content: Uint8Array;
}

export type NewEpisodeCall = Omit<StoredEpisodeCall, 'episodeId' | 'ordinal'>;

/** What an entity may keep; each is refused when the call or the episode that exceeds it arrives. */
export interface EpisodeBounds {
  readonly openMax: number;
  readonly callsMax: number;
  readonly tokensMax: number;
}

/** Rewards of fewer episodes cannot be compared. */
export const GROUP_SIZE_MIN = 2;

/** Counts of one group's episodes. */
export interface EpisodeGroup {
  readonly modelId: string;
  readonly name: string;
  readonly open: number;
  readonly rewarded: number;
  readonly trained: number;
  readonly expired: number;
  /** Of the rewarded ones; false for a group without any. */
  readonly rewardsDiffer: boolean;
}

/** Columns, indexes and page overhead; measured in SQLite. */
const EPISODE_ROW_BYTES = 600;
export const CALL_ROW_BYTES = 400;

export const callBytes = ({ tokens, content }: Pick<StoredEpisodeCall, 'tokens' | 'content'>): number =>
  CALL_ROW_BYTES + tokens.length + content.length;

/** What counts towards the quota. */
export const episodeBytes = (
  episode: Pick<Episode, 'metrics' | 'turnRewards' | 'metadata'> & { readonly callBytes: number },
): number =>
  EPISODE_ROW_BYTES +
  [episode.metrics, episode.turnRewards, episode.metadata].reduce((sum, each) => sum + jsonBytes(each), 0) +
  episode.callBytes;

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Tokens that the call adds to those stored. */
export const addedTokens = ({ promptTokenCount, sharedTokenCount, choices }: NewEpisodeCall): number =>
  promptTokenCount - sharedTokenCount + sampledTokens(choices);

export const sampledTokens = (choices: readonly EpisodeChoice[]): number =>
  choices.reduce((sum, { tokenCount }) => sum + tokenCount, 0);

/** Letters, digits and `.` `_` `~` `-`: what an address may contain unescaped. */
const NAME = /^[A-Za-z0-9._~-]{1,128}$/;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isEpisodeId = (text: string): boolean => ID.test(text);

/** What is wrong with the name of an episode or a group, as a sentence; null: nothing. */
export function episodeNameProblem(name: string): string | null {
  if (!NAME.test(name)) return 'must have 1 to 128 characters of A-Z a-z 0-9 . _ ~ -';
  if (name === 'v1') return 'must not be "v1", which begins the path of an endpoint';
  if (/^\.{1,2}$/.test(name)) return 'must not be "." or "..", which clients resolve as parts of an address';
  if (isEpisodeId(name)) return 'must not have the form of an id (a UUID), by which episodes are found as well';
  return null;
}
