// How many alternatives to its tokens an answer may list: each is an object in the engine, here and in the answer, and their number is a
// product of four fields of the request. Choices that begin with the prompt list its tokens too, each on its own.
import { AppError } from '#domain/errors';
import type { GenerateRequest } from '#engine/inference-engine';

/** About 360 MB of JSON, which is never whole in memory. */
export const LISTED_MAX = 5_000_000;

/** Throws `invalid_request`. `field`: how the request names the alternatives of an answer's tokens. `echoes`: choices that list their prompt. */
export function checkListed(
  asked: readonly Pick<GenerateRequest, 'n' | 'promptTokens' | 'sampling'>[],
  vocabSize: number,
  field: string,
  echoes = 0,
): void {
  const perToken = (count: number): number => (count < 0 ? vocabSize : count);
  const listed = asked.reduce((sum, { n, promptTokens, sampling }) => {
    const { maxTokens, topLogprobs, logprobTokenIds, promptLogprobs } = sampling;
    const ofAnswer = n * maxTokens * (logprobTokenIds?.length ?? perToken(topLogprobs));
    const ofPrompt = perToken(promptLogprobs ?? 0);
    return sum + ofAnswer + promptTokens.length * (echoes > 0 ? echoes * (1 + ofPrompt) : ofPrompt);
  }, 0);
  if (listed <= LISTED_MAX) return;
  const message =
    `This answer could list ${listed} alternatives to its tokens, and an answer lists at most ${LISTED_MAX}. ` +
    `Ask for fewer choices (n), tokens (max_tokens) or alternatives (${field}).`;
  throw new AppError('invalid_request', message, { param: field });
}
