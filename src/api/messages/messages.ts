// POST /v1/messages and /v1/messages/count_tokens, compatible with Anthropic's API: the same service as chat in another format.
import type { ApiServices } from '../http/api-services.ts';
import { anthropicError } from '../http/anthropic-error.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { errorResponse } from '../http/error-response.ts';
import type { Generations } from '../http/generations.ts';
import { unreadVariables } from '../chat/unread-variables.ts';
import { countTokensSchema, messagesRequestSchema } from './messages-fields.ts';
import { parseCountTokens, parseMessagesRequest } from './messages-request.ts';
import * as wire from './messages-response.ts';
import { messageSchema, tokenCountSchema } from './messages-response-schema.ts';
import { warned } from '#validation/unknown-fields';
import { answerSignal, sseEvent } from '../http/sse.ts';

export function messageRoutes({ chat }: Pick<ApiServices, 'chat'>, generations: Generations): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/messages',
      tag: 'Chat',
      summary: 'Create a message (Anthropic’s Messages API)',
      access: 'chat',
      role: 'serve',
      generates: 'answers',
      errors: [400, 404, 429, 503],
      dialect: 'anthropic',
      body: { schema: messagesRequestSchema, read: parseMessagesRequest },
      answer: messageSchema,
      alsoStreams: true,
      async handle({ body: { request, stream, warnings: known, variables }, ...call }) {
        const generation = generations.begin(call, 'chat', null, wire.messageId);
        const { context, because } = generation;
        const id = wire.messageId(context.requestId);
        try {
          const answer = await chat.start({ ...context, answerId: id }, request);
          const warnings = [...known, ...unreadVariables(answer, variables)];
          const head = { id, answer, maxTokens: request.sampling.maxTokens!, warnings };
          const deltas = generation.measured(answer, 1);
          if (!stream) return await wire.wholeMessage(head, deltas);
          const onError = (error: unknown) =>
            sseEvent('error', anthropicError(errorResponse(error), call.request.id).body);
          return await generation.stream(frames(wire.messageEvents(head, deltas)), onError);
        } catch (error) {
          throw because(error);
        }
      },
    }),
    endpoint({
      method: 'POST',
      path: '/v1/messages/count_tokens',
      tag: 'Chat',
      summary: 'Count the tokens of a conversation (Anthropic’s Messages API)',
      access: 'chat',
      role: 'serve',
      errors: [400, 404, 429, 503],
      dialect: 'anthropic',
      body: { schema: countTokensSchema, read: parseCountTokens },
      answer: tokenCountSchema,
      async handle({ caller, body: { conversation, warnings, variables }, reply }) {
        const { model, tokens } = await chat.prompt({ caller, signal: answerSignal(reply) }, conversation);
        return { input_tokens: tokens.length, ...warned([...warnings, ...unreadVariables({ model }, variables)]) };
      },
    }),
  ];
}

async function* frames(events: AsyncIterable<wire.MessageEvent>): AsyncGenerator<string> {
  for await (const { name, data } of events) yield sseEvent(name, data);
}
