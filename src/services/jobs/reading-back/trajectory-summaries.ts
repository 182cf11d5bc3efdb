// One-line summaries of trajectories, for tables of thousands: the question, the last answer, and the numbers. Summaries of a group come
// together once its last reward is known, because advantages depend on all rewards.
import type { ChatMessage } from '#domain/chat';
import type { Trajectory, Turn } from '#domain/trajectory';
import { textOf } from '../../chat/conversation-digest.ts';
import { advantagesOf, promptOf, type GroupSource } from './group-pages.ts';
import { parsePiece, readStoredPieces } from '../data/stored-pieces.ts';
import { createSearch } from './trajectory-search.ts';

export interface CutText {
  readonly text: string;
  readonly isCut: boolean;
}

export interface TrajectorySummary {
  readonly group: number;
  readonly index: number;
  readonly reward: number;
  /** Within the group; null: nothing was trained on these. */
  readonly advantage: number | null;
  readonly metrics: Trajectory['metrics'];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The last message before the first answer. */
  readonly prompt: CutText | null;
  /** The assistant's last message; if it has no text, its tool calls. */
  readonly answer: CutText | null;
  /** The last choice's finish reason; null: there is no choice. */
  readonly finishReason: string | null;
  readonly counts: { readonly messages: number; readonly sampledTurns: number; readonly sampledTokens: number };
}

const TEXT_CHARACTERS = 300;
/** Maximum size of a trajectory's metadata as JSON: tables show only a little of it. */
const METADATA_CHARACTERS = 2_000;

/** Throws `damaged_data`. */
export async function* streamSummaries(
  { name, content, scaleRewards }: GroupSource,
  search: string | null,
): AsyncGenerator<TrajectorySummary> {
  const isFound = createSearch(search);
  let rewards: number[] = [];
  let found: TrajectorySummary[] = [];
  for await (const piece of readStoredPieces(content, name, { group: () => true, trajectory: () => true })) {
    if (piece.kind === 'trajectory') {
      const trajectory = parsePiece<Trajectory>(piece.bytes, name);
      rewards.push(trajectory.reward);
      if (isFound(trajectory)) found.push(summaryOf(trajectory, piece.group, piece.index));
    }
    if (piece.kind !== 'group') continue;
    const advantages = advantagesOf(rewards, scaleRewards);
    for (const each of found) yield { ...each, advantage: advantages?.[each.index] ?? null };
    [rewards, found] = [[], []];
  }
}

function summaryOf(
  { histories, reward, metrics, notes = {} }: Trajectory,
  group: number,
  index: number,
): TrajectorySummary {
  const turns = histories[0]?.turns ?? [];
  const sampled = histories
    .flatMap((history) => history.turns)
    .filter((turn): turn is Extract<Turn, { kind: 'sampled' }> => turn.kind === 'sampled');
  const answer = turns.findLast(({ message }) => message.role === 'assistant')?.message;
  const metadata = notes.metadata ?? {};
  return {
    group,
    index,
    reward,
    advantage: null,
    metrics,
    metadata: JSON.stringify(metadata).length > METADATA_CHARACTERS ? {} : metadata,
    prompt: promptOf(turns, TEXT_CHARACTERS),
    answer: answer ? cut(saidOrCalled(answer)) : null,
    finishReason: sampled.at(-1)?.finishReason ?? null,
    counts: {
      messages: turns.length,
      sampledTurns: sampled.length,
      sampledTokens: sampled.reduce((sum, { tokens }) => sum + (tokens?.length ?? 0), 0),
    },
  };
}

function saidOrCalled({ content, tool_calls: calls }: ChatMessage): string {
  const text = textOf(content);
  if (text !== '') return text;
  return (calls ?? []).map(({ function: { name, arguments: given } }) => `${name}(${given})`).join(' ');
}

const cut = (text: string): CutText => ({
  text: text.slice(0, TEXT_CHARACTERS),
  isCut: text.length > TEXT_CHARACTERS,
});
