// What a generate request must satisfy before it takes a place in the queue. The edge has checked ranges already; this
// is what only the engine knows: its vocabulary, its context, and that a request cannot ask for more than the queue holds.
import { AppError } from '#domain/errors';
import type { GenerateRequest } from '../../inference-engine.ts';

export function checkRequest(
  { promptTokens, sampling, n }: GenerateRequest,
  { vocabSize, contextLength }: { readonly vocabSize: number; readonly contextLength: number },
  { maxWaiting }: { readonly maxWaiting: number },
): void {
  if (promptTokens.length === 0) throw new AppError('invalid_request', 'The prompt is empty.', { param: 'messages' });
  const foreign = promptTokens.find((id) => !(Number.isInteger(id) && id >= 0 && id < vocabSize));
  if (foreign !== undefined) {
    throw new AppError('invalid_request', `Token ${foreign} is not in the vocabulary of ${vocabSize}.`, {
      param: 'messages',
    });
  }
  if (promptTokens.length + sampling.maxTokens > contextLength) {
    const asked = `${promptTokens.length} prompt tokens and up to ${sampling.maxTokens} new ones`;
    const message = `This model's maximum context length is ${contextLength} tokens; the request has ${asked}.`;
    throw new AppError('context_length_exceeded', message, { param: 'max_tokens' });
  }
  const { logitBias, allowedTokenIds, stopTokenIds, logprobTokenIds } = sampling;
  for (const [param, ids] of [
    ['logit_bias', logitBias.map(([id]) => id)],
    ['allowed_token_ids', allowedTokenIds ?? []],
    ['stop_token_ids', stopTokenIds],
    ['logprob_token_ids', logprobTokenIds ?? []],
  ] as const) {
    const unknown = ids.find((id) => !(Number.isInteger(id) && id >= 0 && id < vocabSize));
    if (unknown === undefined) continue;
    throw new AppError(
      'invalid_request',
      `${param} has token ${unknown}, which is not in the vocabulary of ${vocabSize}.`,
      { param },
    );
  }
  if (!(n >= 1 && n <= maxWaiting)) {
    throw new AppError('invalid_request', `n must be between 1 and ${maxWaiting}, got ${n}.`, { param: 'n' });
  }
}
