// POST /v1/chat/completions: a complete answer, or a stream of chunks.
import type { ChatDelta } from '#services/chat/answer';
import { collectChoices } from '#services/chat/collected-choice';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { errorResponse } from '../http/error-response.ts';
import type { Generations } from '../http/generations.ts';
import { sendLarge } from '../http/large-answer.ts';
import { countThinking, countTokens } from './answer-fields.ts';
import { chatRequestSchema, parseChatRequest } from './chat-request.ts';
import * as wire from './chat-response.ts';
import { completionSchema } from './chat-response-schema.ts';
import { unreadVariables } from './unread-variables.ts';
import { SSE_DONE, sseFrame } from '../http/sse.ts';

export function chatRoutes({ chat }: Pick<ApiServices, 'chat'>, generations: Generations): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/chat/completions',
      tag: 'Chat',
      summary: 'Create a chat completion',
      access: 'chat',
      role: 'serve',
      generates: 'answers',
      errors: [400, 404, 429, 503],
      body: { schema: chatRequestSchema, read: parseChatRequest },
      answer: completionSchema,
      alsoStreams: true,
      async handle({ body: { request, format }, ...call }) {
        const generation = generations.begin(call, 'chat', format.requestId, wire.chatId);
        const { context, startMs, because } = generation;
        try {
          const id = wire.chatId(context.requestId);
          const answer = await chat.start({ ...context, answerId: id }, request);
          const warnings = [...format.warnings, ...unreadVariables(answer, format.variables)];
          const head: wire.AnswerHead = { id, createdAtMs: startMs, answer, format: { ...format, warnings } };
          const deltas = generation.measured(answer, request.n);
          if (!format.stream)
            return await sendLarge(call.reply, wire.completion(head, await collectChoices(deltas, request.n)));
          const onError = (error: unknown) => sseFrame({ error: errorResponse(error).body.error }) + SSE_DONE;
          return await generation.stream(chunks(head, deltas, request.n), onError);
        } catch (error) {
          throw because(error);
        }
      },
    }),
  ];
}

/** All role chunks are sent with the first token, in the order of the choices: openai-python needs choice 0 first. */
async function* chunks(head: wire.AnswerHead, deltas: AsyncIterable<ChatDelta>, n: number): AsyncGenerator<string> {
  const counts = Array.from({ length: n }, () => ({ tokens: 0, thinking: 0 }));
  let started = false;
  for await (const delta of deltas) {
    if (!started) yield* opening(head, n);
    started = true;
    const count = counts[delta.choiceIndex]!;
    count.tokens += countTokens(delta);
    count.thinking += countThinking(delta);
    if (!delta.hidden || delta.finish || wire.saysMore(delta)) yield sseFrame(wire.deltaChunk(head, delta, count));
  }
  const sum = (key: 'tokens' | 'thinking') => counts.reduce((total, count) => total + count[key], 0);
  if (head.format.includeUsage) yield sseFrame(wire.usageChunk(head, sum('tokens'), sum('thinking')));
  yield SSE_DONE;
}

function* opening(head: wire.AnswerHead, n: number): Generator<string> {
  for (let index = 0; index < n; index++) yield sseFrame(wire.roleChunk(head, index));
  if (head.answer.echo !== '') for (let index = 0; index < n; index++) yield sseFrame(wire.echoChunk(head, index));
}
