// Log-probabilities on the wire: of the answer tokens (OpenAI's format) and of the prompt tokens (vLLM's).
import { lazily } from '#base/lazy-list';
import type { Answer } from '#services/chat/answer';
import type { ChatAnswer } from '#services/chat/chat';
import type { SampledToken } from '#services/chat/collected-tokens';
import type { AnswerFormat } from './generation-options.ts';

type RankedLogprob = NonNullable<NonNullable<NonNullable<Answer['prompt']['report']>['logprobs']>[number]>[number];

const LOGPROB_MIN = -9999; // JSON has no −∞; vLLM uses this value instead
export const finite = (logprob: number): number => Math.max(logprob, LOGPROB_MIN);

/** Writes the entry of a sampled token; stop tokens have one too, so that the ids are exactly the sampled ones. Null: none are asked for. */
export function logprobWriter({ logprobs, model }: ChatAnswer, format: AnswerFormat) {
  if (!logprobs) return null;
  const { tokenizer } = model.base.text;
  const asIds = format.tokensAsTokenIds ?? model.modelId !== null;
  const entry = (tokenId: number, logprob: number) => ({
    token: asIds ? `token_id:${tokenId}` : tokenizer.tokenText(tokenId),
    logprob: finite(logprob),
    bytes: Array.from(tokenizer.tokenBytes(tokenId)),
  });
  return ({ tokenId, logprob, topLogprobs }: SampledToken) => ({
    ...entry(tokenId, logprob),
    top_logprobs: topLogprobs.map((top) => entry(top.tokenId, top.logprob)),
  });
}

/** For each prompt token a map from token id; null for the first token, which has no prediction. */
export function promptLogprobs({ prompt, model }: Answer) {
  const { tokenizer } = model.base.text;
  const entry = ({ tokenId, logprob, rank }: RankedLogprob) =>
    [tokenId, { logprob: finite(logprob), rank, decoded_token: tokenizer.tokenText(tokenId) }] as const;
  const { logprobs } = prompt.report ?? {};
  return logprobs ? lazily(logprobs, (tokens) => tokens && Object.fromEntries(tokens.map(entry))) : null;
}
