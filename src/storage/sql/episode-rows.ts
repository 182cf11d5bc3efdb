// The tables of episodes as TypeScript types, and the conversion of rows. Part of rows.ts.
import type { Insertable, Selectable } from 'kysely';
import type {
  Episode,
  EpisodeChoice,
  EpisodeOutcome,
  EpisodeStatus,
  NewEpisodeCall,
  StoredEpisodeCall,
} from '#domain/episode';

export interface EpisodeTable {
  id: string;
  /** Order of creation. */
  ordinal: number;
  entity: string;
  model_id: string;
  name: string;
  group_name: string | null;
  status: EpisodeStatus;
  outcome: EpisodeOutcome | null;
  reward: number | null;
  /** JSON, as turn_rewards and metadata. */
  metrics: string;
  turn_rewards: string;
  metadata: string;
  created_at_ms: number;
  last_call_at_ms: number | null;
  rewarded_at_ms: number | null;
  expired_at_ms: number | null;
  /** When it was created, called, rewarded, trained, or expired last. */
  active_at_ms: number;
  trained_by: string | null;
  call_count: number;
  token_count: number;
  trained_token_count: number;
  call_bytes: number;
}

export interface EpisodeCallTable {
  id: string;
  episode_id: string;
  ordinal: number;
  answer_id: string;
  model: string;
  policy_step: number | null;
  is_trainable: number;
  is_cut: number;
  /** JSON, as choices. */
  reshaped_by: string;
  choices: string;
  parent_id: string | null;
  parent_choice: number | null;
  shared_token_count: number;
  prompt_token_count: number;
  created_at_ms: number;
  tokens: Uint8Array;
  content: Uint8Array;
}

export const toEpisode = (row: Selectable<EpisodeTable>): Episode => ({
  id: row.id,
  entity: row.entity,
  modelId: row.model_id,
  name: row.name,
  groupName: row.group_name,
  status: row.status,
  outcome: row.outcome,
  reward: row.reward,
  metrics: JSON.parse(row.metrics) as Record<string, number>,
  turnRewards: JSON.parse(row.turn_rewards) as Record<string, number>,
  metadata: JSON.parse(row.metadata) as Record<string, unknown>,
  createdAtMs: row.created_at_ms,
  lastCallAtMs: row.last_call_at_ms,
  rewardedAtMs: row.rewarded_at_ms,
  expiredAtMs: row.expired_at_ms,
  trainedBy: row.trained_by,
  callCount: row.call_count,
  tokenCount: row.token_count,
  trainedTokenCount: row.trained_token_count,
  callBytes: row.call_bytes,
});

const NO_BYTES = new Uint8Array();

export const toEpisodeCall = ({
  tokens = NO_BYTES,
  content = NO_BYTES,
  ...row
}: Omit<Selectable<EpisodeCallTable>, 'tokens' | 'content'> & {
  tokens?: Uint8Array;
  content?: Uint8Array;
}): StoredEpisodeCall => ({
  id: row.id,
  episodeId: row.episode_id,
  ordinal: row.ordinal,
  answerId: row.answer_id,
  model: row.model,
  policyStep: row.policy_step,
  isTrainable: row.is_trainable !== 0,
  isCut: row.is_cut !== 0,
  reshapedBy: JSON.parse(row.reshaped_by) as string[],
  choices: JSON.parse(row.choices) as EpisodeChoice[],
  parentId: row.parent_id,
  parentChoice: row.parent_choice,
  sharedTokenCount: row.shared_token_count,
  promptTokenCount: row.prompt_token_count,
  createdAtMs: row.created_at_ms,
  tokens: plainBytes(tokens),
  content: plainBytes(content),
});

export const fromEpisodeCall = (
  call: NewEpisodeCall,
  episodeId: string,
  ordinal: number,
): Insertable<EpisodeCallTable> => ({
  id: call.id,
  episode_id: episodeId,
  ordinal,
  answer_id: call.answerId,
  model: call.model,
  policy_step: call.policyStep,
  is_trainable: Number(call.isTrainable),
  is_cut: Number(call.isCut),
  reshaped_by: JSON.stringify(call.reshapedBy),
  choices: JSON.stringify(call.choices),
  parent_id: call.parentId,
  parent_choice: call.parentChoice,
  shared_token_count: call.sharedTokenCount,
  prompt_token_count: call.promptTokenCount,
  created_at_ms: call.createdAtMs,
  tokens: Buffer.from(call.tokens),
  content: Buffer.from(call.content),
});

/** Databases return Buffers, which may be views into a pool: their offset need not be a multiple of 4. */
const plainBytes = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
