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

/** One, or none. */
export const shownTokens = ({ hidden, token }: ChatDelta) => (hidden || token === null ? [] : [token]);

export const countTokens = ({ token }: ChatDelta): number => (token === null ? 0 : 1);

/** Reasoning tokens, returned or not, without those that begin or end it: as vLLM counts. */
export const countThinking = (delta: ChatDelta): number => (delta.thinking === 'within' ? countTokens(delta) : 0);

/** Why an answer ended that nothing could continue. */
export const DEAD_END = 'No token could come next: the constraint and the sampling fields leave none.';

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

/**
 * With the ids of the tokens: the same step in the form of vLLM's rollout servers, as spans of tokens. ART's pipeline takes only such
 * answers for an evaluation of a step.
 */
export const policySpans = (id: string, { model }: Pick<Answer, 'model'>, tokens: number) =>
  model.step === null || tokens === 0
    ? {}
    : {
        policy_token_spans: [
          {
            start_token: 0,
            end_token: tokens,
            generation_id: id,
            policy_version: model.step,
            lora_slot: model.servedName,
            update_seq: model.step,
          },
        ],
      };

/**
 * The same once more, in vLLM's form. Weights change between answers only, so that there is one span. `default`: what vLLM calls weights
 * that nobody numbers, here those of a base model.
 */
export const weightVersions = ({ model: { step } }: Pick<Answer, 'model'>, tokens: number) => ({
  weight_versions: tokens === 0 ? [] : [{ version: step === null ? 'default' : String(step), start: 0, end: tokens }],
});

export const seconds = (ms: number): number => Math.floor(ms / 1000);
