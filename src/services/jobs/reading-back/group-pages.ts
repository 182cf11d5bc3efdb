// Pages of groups and trajectories from a stored blob, for people to look at: a job's body, or logged trajectories. Pages are bounded in
// items and bytes; the blob is read from its beginning up to the end of the page.
import { unknownCursor, type Listing, type Page } from '#domain/page';
import { AppError } from '#domain/errors';
import type { RolloutException, Trajectory, TrajectoryGroup, Turn } from '#domain/trajectory';
import { groupAdvantages } from '#training/advantage';
import { groupMetrics } from '#training/rl-metrics';
import { textOf } from '../../chat/conversation-digest.ts';
import { createSearch } from './trajectory-search.ts';
import { parsePiece, readStoredPieces, type StoredPiece } from '../data/stored-pieces.ts';

export interface GroupSource {
  /** The blob's name. */
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** How the job computes advantages; null: nothing was trained on these. */
  readonly scaleRewards: boolean | null;
}

export interface GroupSummary {
  readonly index: number;
  /** The end of the last question, cut to a maximum length; null: there is none. */
  readonly prompt: { readonly text: string; readonly isCut: boolean } | null;
  readonly rewards: readonly number[];
  /** Of each trajectory within its group, before the job's weights; null: nothing was trained on these. */
  readonly advantages: readonly number[] | null;
  /** Means, under the names of step metrics. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly counts: {
    readonly trajectories: number;
    readonly exceptions: number;
    readonly messages: number;
    /** Number of choices. */
    readonly sampledTurns: number;
    /** How many of them have tokens, sent with the choice or remembered by the server. */
    readonly sampledTokens: number;
  };
  readonly exceptions: readonly RolloutException[];
  readonly logs: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface ReadTrajectory {
  readonly index: number;
  readonly trajectory: Trajectory;
  readonly advantage: number | null;
}

/** A page ends after the item that exceeds one of these. */
const ANSWER_BYTES = 4_000_000;
const READ_BYTES = 64_000_000;
const PROMPT_CHARACTERS = 2_000;

/** Throws `unknownCursor`, `damaged_data`. */
export async function listGroups(source: GroupSource, { after, limit }: Page): Promise<Listing<GroupSummary>> {
  const from = after === null ? 0 : parseIndex(after) + 1;
  const rows: GroupSummary[] = [];
  let [readBytes, answerBytes] = [0, 0];
  const isFull = () => rows.length === limit || readBytes > READ_BYTES || answerBytes > ANSWER_BYTES;
  for await (const group of readGroups(source, (group) => group >= from)) {
    if (typeof group === 'number') {
      if (from > group) throw unknownCursor(after!);
      return { rows, hasMore: false };
    }
    if ('begins' in group) {
      if (rows.length > 0 && isFull()) return { rows, hasMore: true };
      continue;
    }
    rows.push(group.summary);
    readBytes += group.sizeBytes;
    answerBytes += JSON.stringify(group.summary).length;
  }
  return { rows, hasMore: false };
}

/** Throws `not_found`, `damaged_data`. */
export async function getGroup(source: GroupSource, index: number): Promise<GroupSummary> {
  for await (const group of readGroups(source, (group) => group === index)) {
    if (typeof group === 'object' && 'summary' in group) return group.summary;
  }
  throw noGroup(index);
}

/** Throws `not_found`, `unknownCursor`, `damaged_data`. */
export async function listTrajectories(
  source: GroupSource,
  group: number,
  { after, limit }: Page,
): Promise<Listing<ReadTrajectory>> {
  const from = after === null ? 0 : parseIndex(after) + 1;
  const wanted = { group: (each: number) => each === group, trajectory: () => true };
  const rewards: number[] = [];
  const kept: { index: number; trajectory: Trajectory }[] = [];
  let keptBytes = 0;
  for await (const piece of readStoredPieces(source.content, source.name, wanted)) {
    if (piece.kind === 'trajectory') {
      const trajectory = parsePiece<Trajectory>(piece.bytes, source.name);
      rewards.push(trajectory.reward);
      if (piece.index < from || kept.length === limit || (kept.length > 0 && keptBytes > ANSWER_BYTES)) continue;
      kept.push({ index: piece.index, trajectory });
      keptBytes += piece.bytes.length;
    }
    if (piece.kind !== 'group') continue;
    if (from > piece.count) throw unknownCursor(after!);
    const advantages = advantagesOf(rewards, source.scaleRewards);
    const rows = kept.map((each) => ({ ...each, advantage: advantages?.[each.index] ?? null }));
    return { rows, hasMore: from + rows.length < piece.count };
  }
  throw noGroup(group);
}

export interface PlacedTrajectory {
  readonly group: number;
  readonly index: number;
  readonly trajectory: Trajectory;
}

/** All groups, or those that contain `search`, in order. Throws `damaged_data`. */
export async function* streamTrajectories(
  { content, name }: GroupSource,
  search: string | null,
): AsyncGenerator<PlacedTrajectory> {
  const isFound = createSearch(search);
  for await (const piece of readStoredPieces(content, name, { group: () => true, trajectory: () => true })) {
    if (piece.kind !== 'trajectory') continue;
    const { group, index, bytes } = piece;
    const trajectory = parsePiece<Trajectory>(bytes, name);
    if (isFound(trajectory)) yield { group, index, trajectory };
  }
}

interface ReadGroup {
  readonly summary: GroupSummary;
  readonly sizeBytes: number;
}

/** Yields the wanted groups, each after a header, and at the end the number of all groups. */
async function* readGroups(
  source: GroupSource,
  wanted: (group: number) => boolean,
): AsyncGenerator<ReadGroup | { readonly begins: number } | number> {
  let reading = startGroup();
  for await (const piece of readStoredPieces(source.content, source.name, { group: wanted, trajectory: () => true })) {
    if (piece.kind === 'head') continue;
    if (piece.kind === 'end') {
      yield piece.groups;
      continue;
    }
    if (reading.isNew) yield { begins: piece.group };
    reading.add(piece, source);
    if (piece.kind !== 'group') continue;
    yield reading.end(piece, source);
    reading = startGroup();
  }
}

/** What the summary of a group needs: everything except its conversations. */
function startGroup() {
  const trajectories: Pick<Trajectory, 'reward' | 'metrics'>[] = [];
  const counts = { messages: 0, sampledTurns: 0, sampledTokens: 0 };
  let prompt: GroupSummary['prompt'] = null;
  let sizeBytes = 0;
  return {
    get isNew() {
      return sizeBytes === 0;
    },
    add(piece: Exclude<StoredPiece, { kind: 'end' }>, { name }: GroupSource): void {
      sizeBytes += piece.bytes.length;
      if (piece.kind !== 'trajectory') return;
      const { histories, reward, metrics } = parsePiece<Trajectory>(piece.bytes, name);
      trajectories.push({ reward, metrics });
      for (const turn of histories.flatMap(({ turns }) => turns)) {
        counts.messages++;
        if (turn.kind !== 'sampled') continue;
        counts.sampledTurns++;
        counts.sampledTokens += turn.tokens?.length ?? 0;
      }
      if (piece.index === 0) prompt = promptOf(histories[0]?.turns ?? []);
    },
    end({ group: index, bytes }: Extract<StoredPiece, { kind: 'group' }>, source: GroupSource): ReadGroup {
      // An older version may have stored fewer fields.
      const rest = parsePiece<Partial<Omit<TrajectoryGroup, 'trajectories'>>>(bytes, source.name);
      const { exceptionCount = 0, metrics = {}, notes = {} } = rest;
      const rewards = trajectories.map(({ reward }) => reward);
      const summary: GroupSummary = {
        index,
        prompt,
        rewards,
        advantages: advantagesOf(rewards, source.scaleRewards),
        metrics: groupMetrics([{ trajectories, exceptionCount, metrics }]),
        counts: { trajectories: trajectories.length, exceptions: exceptionCount, ...counts },
        exceptions: notes.exceptions ?? [],
        logs: notes.logs ?? [],
        metadata: notes.metadata ?? {},
      };
      return { summary, sizeBytes };
    },
  };
}

/** As planRlJob computes them. */
export function advantagesOf(rewards: readonly number[], scaleRewards: boolean | null): readonly number[] | null {
  return scaleRewards === null ? null : groupAdvantages([rewards], scaleRewards)[0]!;
}

/** The last message before the first answer. */
export function promptOf(turns: readonly Turn[], charactersMax = PROMPT_CHARACTERS): GroupSummary['prompt'] {
  const answer = turns.findIndex(({ kind, message }) => kind === 'sampled' || message.role === 'assistant');
  const last = turns.slice(0, answer < 0 ? turns.length : answer).at(-1);
  if (!last) return null;
  const text = textOf(last.message.content);
  return { text: text.slice(0, charactersMax), isCut: text.length > charactersMax };
}

/** The cursor is the index of a group or trajectory. Throws `unknownCursor`. */
export function parseIndex(after: string): number {
  if (/^\d{1,9}$/.test(after)) return Number(after);
  throw unknownCursor(after);
}

const noGroup = (index: number): AppError =>
  new AppError('not_found', `There is no group ${index}. List the groups to see which exist.`);
