// What a generate request must satisfy before it takes a place in the queue. The API has already checked ranges; this checks
// what only the engine knows: its vocabulary, its context, and that a request cannot need more than the queue holds.
import { AppError } from '#domain/errors';
import type { GenerateRequest } from '../../inference-engine.ts';

export interface RequestSizes {
  /** Rows of the embedding: the ids that the model can read. */
  readonly vocabSize: number;
  /** Largest id of the tokenizer + 1: below the embedding's rows if it is padded, above them if the tokenizer has tokens for other models. */
  readonly tokenizerSize: number;
  readonly contextLength: number;
}

export function checkRequest(
  { promptTokens, sampling, n }: GenerateRequest,
  { vocabSize, tokenizerSize, contextLength }: RequestSizes,
  { maxWaiting }: { readonly maxWaiting: number },
): void {
  if (promptTokens.length === 0) throw new AppError('invalid_request', 'The prompt is empty.', { param: 'messages' });
  const foreign = promptTokens.find((id) => !(Number.isInteger(id) && id >= 0 && id < vocabSize));
  if (foreign !== undefined) {
    const whose = foreign < tokenizerSize ? ': the tokenizer has it for models that also read images or sound' : '';
    throw new AppError('invalid_request', `Token ${foreign} is not in the vocabulary of ${vocabSize} tokens${whose}.`, {
      param: 'messages',
    });
  }
  if (promptTokens.length + sampling.maxTokens > contextLength) {
    const asked = `${promptTokens.length} prompt tokens and up to ${sampling.maxTokens} new ones`;
    const message = `This model's maximum context length is ${contextLength} tokens; the request has ${asked}.`;
    throw new AppError('context_length_exceeded', message, { param: 'max_tokens' });
  }
  const { logitBias, allowedTokenIds, stopTokenIds, logprobTokenIds } = sampling;
  const tokenCount = Math.min(vocabSize, tokenizerSize); // padding rows are never sampled
  for (const [param, ids, size] of [
    ['logit_bias', logitBias.map(([id]) => id), tokenCount],
    ['allowed_token_ids', allowedTokenIds ?? [], tokenCount],
    ['stop_token_ids', stopTokenIds, vocabSize],
    ['logprob_token_ids', logprobTokenIds ?? [], tokenCount],
  ] as const) {
    const unknown = ids.find((id) => !(Number.isInteger(id) && id >= 0 && id < size));
    if (unknown === undefined) continue;
    throw new AppError(
      'invalid_request',
      `${param} has token ${unknown}, which is not in the vocabulary of ${size} tokens.`,
      {
        param,
      },
    );
  }
  if (!(n >= 1 && n <= maxWaiting)) {
    throw new AppError('invalid_request', `n must be between 1 and ${maxWaiting}, got ${n}.`, { param: 'n' });
  }
}
