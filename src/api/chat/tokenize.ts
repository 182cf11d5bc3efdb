// POST /tokenize and /detokenize, GET /tokenizer_info, at vLLM's paths. Unlike vLLM's, they need a key: unauthenticated clients must not learn which models
// exist, nor have long texts encoded.
import { AppError } from '#domain/errors';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { answerSignal } from '../http/sse.ts';
import {
  detokenizedSchema,
  detokenizeSchema,
  parseDetokenize,
  parseTokenize,
  tokenizedSchema,
  tokenizerInfoQuery,
  tokenizerInfoSchema,
  tokenizeSchema,
} from './tokenize-schema.ts';
import { unreadVariables } from './unread-variables.ts';
import { warned } from '#validation/unknown-fields';

export function tokenizeRoutes({ chat, tokenization }: Pick<ApiServices, 'chat' | 'tokenization'>): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/tokenize',
      tag: 'Chat',
      summary: 'Tokenize a text, or the prompt of a conversation',
      access: 'chat',
      role: 'serve',
      errors: [400, 404, 429, 503],
      body: { schema: tokenizeSchema, read: parseTokenize },
      answer: tokenizedSchema,
      async handle({ caller, body: { input, returnTexts, warnings, variables }, reply }) {
        const context = { caller, signal: answerSignal(reply) };
        const { model, tokens } =
          'text' in input ? await tokenization.tokenize(context, input) : await chat.prompt(context, input);
        const { text, inference } = model.base;
        return {
          count: tokens.length,
          max_model_len: Math.min(text.contextLength, inference.contextLength),
          tokens,
          token_strs: returnTexts ? textsOf(tokens, (id) => text.tokenizer.tokenText(id)) : null,
          ...warned([...warnings, ...unreadVariables({ model }, variables)]),
        };
      },
    }),
    endpoint({
      method: 'POST',
      path: '/detokenize',
      tag: 'Chat',
      summary: 'Convert token ids to text',
      access: 'chat',
      role: 'serve',
      errors: [400, 404, 429, 503],
      body: { schema: detokenizeSchema, read: parseDetokenize },
      answer: detokenizedSchema,
      async handle({ caller, body: { warnings, ...request }, reply }) {
        const prompt = await tokenization.detokenize({ caller, signal: answerSignal(reply) }, request);
        return { prompt, ...warned(warnings) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/tokenizer_info',
      tag: 'Chat',
      summary: 'Read the configuration of a model’s tokenizer, with its chat template',
      access: 'chat',
      role: 'serve',
      errors: [404, 429, 503],
      query: tokenizerInfoQuery,
      answer: tokenizerInfoSchema,
      handle: ({ caller, query, reply }) =>
        tokenization.describe({ caller, signal: answerSignal(reply) }, query.model || null),
    }),
  ];
}

/** More would keep other requests waiting while the answer is written. */
const TEXTS_MAX = 500_000;

function textsOf(tokens: readonly number[], textOf: (tokenId: number) => string): string[] {
  if (tokens.length <= TEXTS_MAX) return tokens.map(textOf);
  const message = `The text has ${tokens.length} tokens, and return_token_strs returns at most ${TEXTS_MAX}. Send it in parts.`;
  throw new AppError('invalid_request', message, { param: 'return_token_strs' });
}
