// Fields that all of OpenAI's answer formats share: finish reason, usage, fingerprint.
import { createHash } from 'node:crypto';
import type { Answer, ChatDelta } from '#services/chat/answer';
import type { Finish } from '#services/chat/choice-text';

/** Usage of the answers of one request. `reasoningTokens`: those of the completion. */
export function usageOf(answers: readonly Answer[], completionTokens: number, reasoningTokens: number) {
  const promptTokens = answers.reduce((sum, answer) => sum + answer.promptTokens.length, 0);
  const cachedTokens = answers.reduce((sum, { prompt }) => sum + (prompt.report?.cachedTokenCount ?? 0), 0);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

export const shownTokens = (deltas: readonly ChatDelta[]) =>
  deltas.flatMap(({ hidden, token }) => (hidden || token === null ? [] : [token]));

export const countTokens = (deltas: readonly ChatDelta[]): number =>
  deltas.filter(({ token }) => token !== null).length;

/** Reasoning tokens: the returned ones and those withheld from the client. */
export const countThinking = (deltas: readonly ChatDelta[]): number =>
  countTokens(deltas.filter(({ reasoning, hidden }) => hidden || reasoning !== ''));

/** `cancelled` although the client is connected: the server stopped the answer, or no token was possible (`dead_end`). */
export const wireFinishReason = (finish: Finish | null): string | null =>
  finish === null ? null : finish.reason === 'cancelled' ? 'abort' : finish.reason;

/** Changes with whatever can change an answer: base model, adapter. */
export function fingerprint(model: Answer['model']): string {
  const parts = [model.base.id, model.base.createdAtMs, model.adapter?.id ?? ''];
  return `fp_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12)}`;
}

/** Of each choice of a trainable model: the step whose weights sampled it. */
export const policyStep = ({ model: { step } }: Pick<Answer, 'model'>): { policy_step?: number } =>
  step === null ? {} : { policy_step: step };

export const seconds = (ms: number): number => Math.floor(ms / 1000);
