// Pairs the answers of one checkpoint with those of another: prompts are matched by their text and by the client's metadata, so that
// two jobs whose lists differ in order or length are compared on the prompts they share. Pure.
import type { Item } from '../api/client.ts';

export type AnsweredPrompt = Item<'/v1/preview/training-jobs/{training_job_id}/evaluation/answers'>;
export type Answer = NonNullable<AnsweredPrompt['answers']>[number];

export interface AnswerRow {
  readonly key: string;
  readonly now: AnsweredPrompt;
  /** Mean reward of its answers; null: no reward was sent. */
  readonly mean: number | null;
  /** The same prompt at the compared step; null: that step lacks it. */
  readonly then: AnsweredPrompt | null;
  readonly before: number | null;
}

export function answerRows(now: readonly AnsweredPrompt[], then: readonly AnsweredPrompt[]): AnswerRow[] {
  const earlier = new Map<string, AnsweredPrompt[]>();
  for (const prompt of then) {
    const same = earlier.get(identityOf(prompt));
    if (same) same.push(prompt);
    else earlier.set(identityOf(prompt), [prompt]);
  }
  return now.map((prompt) => {
    const other = earlier.get(identityOf(prompt))?.shift() ?? null; // one that is asked twice is met twice
    return {
      key: String(prompt.index),
      now: prompt,
      mean: meanReward(prompt),
      then: other,
      before: other && meanReward(other),
    };
  });
}

const identityOf = ({ messages, tools, metadata }: AnsweredPrompt): string =>
  JSON.stringify([messages, tools, metadata]);

function meanReward({ answers }: Pick<AnsweredPrompt, 'answers'>): number | null {
  const rewards = (answers ?? []).flatMap(({ reward }) => (reward === null ? [] : [reward]));
  return rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward / rewards.length, 0);
}

/** Those with the text, in any case, in a message, an answer, or the metadata. */
export function filterAnswers(rows: readonly AnswerRow[], text: string): readonly AnswerRow[] {
  const part = text.toLowerCase();
  if (part === '') return rows;
  const hasText = (value: unknown): boolean =>
    typeof value === 'string'
      ? value.toLowerCase().includes(part)
      : typeof value === 'object' && value !== null && Object.values(value).some(hasText);
  return rows.filter(({ now: { messages, answers, metadata } }) =>
    hasText([messages, metadata, (answers ?? []).map(({ message }) => message)]),
  );
}

export const ORDERS = ['worst first', 'best first', 'greatest loss', 'greatest gain', 'as asked'] as const;
export type AnswerOrder = (typeof ORDERS)[number];

/** Rows without a number come last; equal ones keep the order in which they were asked. */
export function orderRows(rows: readonly AnswerRow[], order: AnswerOrder): readonly AnswerRow[] {
  if (order === 'as asked') return rows;
  const isChange = order === 'greatest loss' || order === 'greatest gain';
  const sign = order === 'worst first' || order === 'greatest loss' ? 1 : -1;
  const value = ({ mean, before }: AnswerRow): number | null =>
    !isChange ? mean : mean === null || before === null ? null : mean - before;
  return rows.toSorted((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (x - y);
  });
}
