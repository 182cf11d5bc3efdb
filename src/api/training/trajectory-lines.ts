// Trajectories as JSON Lines: complete, or as summaries for tables with thousands of rows.
import { z } from 'zod';
import type { PlacedTrajectory } from '#services/jobs/reading-back/group-pages';
import type { JobTrajectorySummary } from '#services/jobs/reading-back/job-inputs';
import type { TrajectorySummary } from '#services/jobs/reading-back/trajectory-summaries';
import { trajectoryFieldsOf } from './job-input.ts';

/** One JSON object per line. */
export const TRAJECTORY_LINES = 'application/jsonl';

const SEARCH_CHARACTERS_MAX = 1_000;

export const linesQuery = z.looseObject({
  view: z
    .enum(['full', 'summary'])
    .default('full')
    .describe(
      'summary: each line has group, index, reward, advantage, metrics, metadata, truncated prompt and last answer, and counts; for a job also is_trained and reason.',
    ),
  search: z
    .string()
    .max(SEARCH_CHARACTERS_MAX)
    .optional()
    .describe(
      'Return only trajectories that contain this text in messages, tool calls, metadata or logs. Case is ignored.',
    ),
});

export interface TrajectorySource {
  trajectories(): Promise<AsyncIterable<PlacedTrajectory>>;
  summaries(): Promise<AsyncIterable<TrajectorySummary | JobTrajectorySummary>>;
}

/** The lines of a view. A missing object is an error here, before the first line. */
export async function linesOf(
  view: z.infer<typeof linesQuery>['view'],
  source: TrajectorySource,
): Promise<AsyncIterable<string>> {
  return view === 'summary'
    ? toLines(await source.summaries(), toSummary)
    : toLines(await source.trajectories(), toWhole);
}

async function* toLines<T>(items: AsyncIterable<T>, toLine: (item: T) => object): AsyncGenerator<string> {
  for await (const item of items) yield `${JSON.stringify(toLine(item))}\n`;
}

const toWhole = ({ group, index, trajectory }: PlacedTrajectory) => ({
  group,
  ...trajectoryFieldsOf(index, trajectory),
});

function toSummary(summary: TrajectorySummary | JobTrajectorySummary) {
  const { group, index, reward, advantage, metrics, metadata, prompt, answer, finishReason, counts } = summary;
  return {
    group,
    index,
    reward,
    advantage,
    metrics,
    metadata,
    prompt: prompt?.text ?? null,
    prompt_is_cut: prompt?.isCut ?? false,
    answer: answer?.text ?? null,
    answer_is_cut: answer?.isCut ?? false,
    finish_reason: finishReason,
    num_messages: counts.messages,
    num_sampled_turns: counts.sampledTurns,
    num_sampled_tokens: counts.sampledTokens,
    ...('outcome' in summary ? outcomeOf(summary) : {}),
  };
}

/** `is_trained` as in the list of tokens. */
const outcomeOf = ({ outcome }: JobTrajectorySummary) => ({
  is_trained: outcome && (outcome.reason === null || outcome.reason === 'truncated'),
  reason: outcome?.reason ?? null,
});
