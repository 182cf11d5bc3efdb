// POST /v1/chat/completions: one answer as a whole, or as a stream of chunks.
import { AppError } from '#domain/errors';
import type { Span } from '#base/tracing';
import type { Caller } from '#domain/caller';
import type { ChatAnswer, ChatDelta } from '#services/chat';
import type { ApiLimits, ApiServices } from '../api-services.ts';
import { serverStopping } from '../draining.ts';
import { endpoint, type Endpoint } from '../endpoint.ts';
import { errorResponse } from '../error-response.ts';
import { chatRequestSchema, parseChatRequest } from '../schema/chat-request.ts';
import * as wire from '../schema/chat-response.ts';
import { completionSchema } from '../schema/chat-response-schema.ts';
import { clientSignal, SSE_DONE, sendEvents, sseFrame } from '../sse.ts';

type Services = Pick<ApiServices, 'chat' | 'metrics' | 'clock' | 'log'>;

/** `cut` aborts when a stop of the server has waited for answers long enough. */
export function chatRoutes(
  { chat, metrics, clock, log }: Services,
  { pingMs, connections }: ApiLimits,
  cut: AbortSignal,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/chat/completions',
      tag: 'Chat',
      summary: 'Answer a conversation',
      access: 'chat',
      role: 'serve',
      errors: [400, 404, 429, 503],
      body: { schema: chatRequestSchema, read: parseChatRequest },
      answer: completionSchema,
      alsoStreams: true,
      async handle({ caller, body: { request, format }, request: { id, headers, span }, reply }) {
        const startMs = clock.now();
        const signal = clientSignal(reply, cut);
        // The header wins over the body's request_id.
        const requestId = headers['x-request-id'] === undefined ? (format.requestId ?? id) : id;
        const because = (error: unknown) => (cut.aborted ? serverStopping() : error);
        try {
          const answer = await chat.start({ caller, project: projectOf(headers, caller), requestId, signal }, request);
          const head: wire.AnswerHead = { id: wire.chatId(requestId), createdAtMs: startMs, answer, format };
          const deltas = measured(answer, request.n, startMs, span);
          if (!format.stream) return wire.completion(head, await collect(deltas, request.n));
          const onError = (error: unknown) => {
            log.warn('chat.failed', { requestId: id, err: error });
            return sseFrame({ error: errorResponse(because(error)).body.error }) + SSE_DONE;
          };
          const limits = { pingMs, stallMs: connections.writeStallMs };
          await sendEvents(reply, chunks(head, deltas, request.n), onError, limits);
          return reply;
        } catch (error) {
          throw because(error);
        }
      },
    }),
  ];

  /** Passes the deltas on, and measures them also when the client leaves halfway. */
  async function* measured(answer: ChatAnswer, n: number, startMs: number, parent: Span): AsyncGenerator<ChatDelta> {
    const { deltas, model, promptTokens, prompt } = answer;
    const baseModel = model.base.id;
    const counted = { baseModel, promptTokens: promptTokens.length, choices: n, startMs, clock };
    const observation = metrics.chat.begin(counted);
    const span = parent.child(`chat ${baseModel}`, generationAttributes(answer));
    const finishReasons: string[] = [];
    let outputTokens = 0;
    let failed = false;
    try {
      for await (const delta of deltas) {
        if (outputTokens++ === 0) span.event('first_token');
        if (delta.finish) finishReasons.push(delta.finish.reason);
        observation.token(delta.choiceIndex, delta.finish);
        yield delta;
      }
    } catch (error) {
      failed = !(error instanceof AppError && error.code === 'cancelled');
      if (failed) span.fail(error);
      throw error;
    } finally {
      observation.end(prompt.report, failed ? 'error' : 'abort');
      span.set({
        'gen_ai.usage.output_tokens': outputTokens,
        'gen_ai.usage.cache_read.input_tokens': prompt.report?.cachedTokenCount,
        'gen_ai.response.finish_reasons': finishReasons,
      });
      span.end();
    }
  }
}

/** OpenTelemetry's names for generations (gen_ai.*), without what was said. */
const generationAttributes = ({ model, promptTokens }: ChatAnswer) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'whetstone',
  'gen_ai.request.model': model.base.id,
  'gen_ai.usage.input_tokens': promptTokens.length,
});

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** `Vendor-Project: team/project`, or OpenAI's name for it; a project alone is the caller's. */
function projectOf(headers: Headers, { entity }: Caller): string {
  const header = headers['vendor-project'] ?? headers['openai-project'];
  if (typeof header !== 'string' || header === '') return '';
  const [team, project] = header.includes('/') ? header.split('/', 2) : [entity, header];
  if (team === entity && /^[\w .-]{1,128}$/.test(project!)) return project!;
  const message = `The project \`${header.slice(0, 100)}\` is not one that this key can use. Send Vendor-Project: ${entity}/PROJECT, or leave it out.`;
  throw new AppError('invalid_api_key', message, { param: 'Vendor-Project' });
}

async function collect(deltas: AsyncIterable<ChatDelta>, n: number): Promise<ChatDelta[][]> {
  const choices = Array.from({ length: n }, () => [] as ChatDelta[]);
  for await (const delta of deltas) choices[delta.choiceIndex]!.push(delta);
  return choices;
}

/** All role chunks come with the first token, in order of the choices: openai-python needs choice 0 first. */
async function* chunks(head: wire.AnswerHead, deltas: AsyncIterable<ChatDelta>, n: number): AsyncGenerator<string> {
  const counts = Array.from({ length: n }, () => ({ tokens: 0, thinking: 0 }));
  let started = false;
  for await (const delta of deltas) {
    if (!started) yield* opening(head, n);
    started = true;
    const count = counts[delta.choiceIndex]!;
    count.tokens++;
    count.thinking += wire.countThinking([delta]);
    if (!delta.hidden || delta.finish) yield sseFrame(wire.deltaChunk(head, delta, count));
  }
  const sum = (key: 'tokens' | 'thinking') => counts.reduce((total, count) => total + count[key], 0);
  if (head.format.includeUsage) yield sseFrame(wire.usageChunk(head, sum('tokens'), sum('thinking')));
  yield SSE_DONE;
}

function* opening(head: wire.AnswerHead, n: number): Generator<string> {
  for (let index = 0; index < n; index++) yield sseFrame(wire.roleChunk(head, index));
  if (head.answer.echo !== '') for (let index = 0; index < n; index++) yield sseFrame(wire.echoChunk(head, index));
}
