// Log-probabilities on the wire: of the answer tokens (OpenAI's format) and of the prompt tokens (vLLM's).
import type { Answer, ChatDelta } from '#services/chat/answer';
import type { ChatAnswer } from '#services/chat/chat';
import type { AnswerFormat } from './generation-options.ts';

type SampledToken = NonNullable<ChatDelta['token']>;
type RankedLogprob = NonNullable<NonNullable<NonNullable<Answer['prompt']['report']>['logprobs']>[number]>[number];

const LOGPROB_MIN = -9999; // JSON has no −∞; vLLM uses this value instead
export const finite = (logprob: number): number => Math.max(logprob, LOGPROB_MIN);

/** One entry per sampled token, including the stop token, so that the ids are exactly the sampled ones. */
export function tokenLogprobs({ logprobs, model }: ChatAnswer, format: AnswerFormat, tokens: readonly SampledToken[]) {
  if (!logprobs) return null;
  const { tokenizer } = model.base.text;
  const asIds = format.tokensAsTokenIds ?? model.modelId !== null;
  const entry = (tokenId: number, logprob: number) => ({
    token: asIds ? `token_id:${tokenId}` : tokenizer.tokenText(tokenId),
    logprob: finite(logprob),
    bytes: Array.from(tokenizer.tokenBytes(tokenId)),
  });
  return {
    content: tokens.map((token) => ({
      ...entry(token.tokenId, token.logprob),
      top_logprobs: token.topLogprobs.map((top) => entry(top.tokenId, top.logprob)),
    })),
    refusal: null,
  };
}

/** For each prompt token a map from token id; null for the first token, which has no prediction. */
export function promptLogprobs({ prompt, model }: Answer) {
  const { tokenizer } = model.base.text;
  const entry = ({ tokenId, logprob, rank }: RankedLogprob) =>
    [tokenId, { logprob: finite(logprob), rank, decoded_token: tokenizer.tokenText(tokenId) }] as const;
  return prompt.report?.logprobs?.map((tokens) => tokens && Object.fromEntries(tokens.map(entry))) ?? null;
}
