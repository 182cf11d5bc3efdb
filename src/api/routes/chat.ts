// POST /v1/chat/completions: one answer as a whole, or as a stream of chunks.
import type { ChatAnswer, ChatDelta } from '#services/chat';
import type { ApiLimits, ApiServices } from '../api-services.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { errorResponse } from '../error-response.ts';
import { chatRequestSchema, parseChatRequest } from '../schema/chat-request.ts';
import * as wire from '../schema/chat-response.ts';
import { completionSchema } from '../schema/chat-response-schema.ts';
import { clientSignal, SSE_DONE, sendEvents, sseFrame } from '../sse.ts';

type Services = Pick<ApiServices, 'chat' | 'metrics' | 'clock' | 'log'>;

export function chatRoutes({ chat, metrics, clock, log }: Services, { pingMs }: ApiLimits): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/chat/completions',
      tag: 'Chat',
      summary: 'Answer a conversation',
      access: 'key',
      errors: [400, 404, 429, 503],
      body: { schema: chatRequestSchema, read: parseChatRequest },
      answer: completionSchema,
      alsoStreams: true,
      async handle({ caller, body: { request, format }, request: { id, headers }, reply }) {
        const startMs = clock.now();
        const signal = clientSignal(reply);
        // The header wins over the body's request_id.
        const requestId = headers['x-request-id'] === undefined ? (format.requestId ?? id) : id;
        const answer = await chat.start(caller, request, requestId, signal);
        const head: wire.AnswerHead = { id: wire.chatId(requestId), createdAtMs: startMs, answer, format };
        const deltas = measured(answer, startMs);
        if (!format.stream) return wire.completion(head, await collect(deltas, request.n));
        const onError = (error: unknown) => {
          log.warn('chat.failed', { requestId: id, err: error });
          return sseFrame({ error: errorResponse(error).body.error }) + SSE_DONE;
        };
        await sendEvents(reply, chunks(head, deltas, request.n), onError, { pingMs });
        return reply;
      },
    }),
  ];

  /** Passes the deltas on, and counts them also when the client leaves halfway. */
  async function* measured({ deltas, model, promptTokens }: ChatAnswer, startMs: number): AsyncGenerator<ChatDelta> {
    let completionTokens = 0;
    try {
      for await (const delta of deltas) {
        if (completionTokens++ === 0) metrics.firstToken(model.base.id, (clock.now() - startMs) / 1000);
        yield delta;
      }
    } finally {
      metrics.chatFinished({ baseModel: model.base.id, promptTokens: promptTokens.length, completionTokens });
    }
  }
}

async function collect(deltas: AsyncIterable<ChatDelta>, n: number): Promise<wire.ChoiceResult[]> {
  const choices = Array.from({ length: n }, () => ({ texts: [] as string[], deltas: [] as ChatDelta[] }));
  for await (const delta of deltas) {
    const choice = choices[delta.choiceIndex]!;
    choice.texts.push(delta.text);
    choice.deltas.push(delta);
  }
  return choices.map((choice) => ({
    text: choice.texts.join(''),
    deltas: choice.deltas,
    finish: choice.deltas.at(-1)?.finish ?? null,
  }));
}

/** All role chunks come with the first token, in order of the choices: openai-python needs choice 0 first. */
async function* chunks(head: wire.AnswerHead, deltas: AsyncIterable<ChatDelta>, n: number): AsyncGenerator<string> {
  const counts = new Array<number>(n).fill(0);
  let started = false;
  for await (const delta of deltas) {
    if (!started) for (let index = 0; index < n; index++) yield sseFrame(wire.roleChunk(head, index));
    started = true;
    yield sseFrame(wire.deltaChunk(head, delta, ++counts[delta.choiceIndex]!));
  }
  if (head.format.includeUsage) yield sseFrame(wire.usageChunk(head, counts.reduce((a, b) => a + b, 0))); // prettier-ignore
  yield SSE_DONE;
}
