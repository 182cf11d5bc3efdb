// POST /inference/v1/generate: token ids in, token ids out, complete or as a stream of chunks. Environment libraries render and parse the
// conversation themselves and call this; it lies at the root, where vLLM has it.
import { collectChoices } from '#services/chat/collected-choice';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { errorResponse } from '../http/error-response.ts';
import type { Generation, Generations } from '../http/generations.ts';
import { sendLarge } from '../http/large-answer.ts';
import { SSE_DONE, sseFrame } from '../http/sse.ts';
import { generateRequestSchema, parseGenerateRequest } from './generate-request.ts';
import * as wire from './generate-response.ts';
import { generatedSchema } from './generate-response-schema.ts';

export function generateRoutes(
  { completions }: Pick<ApiServices, 'completions'>,
  generations: Generations,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/inference/v1/generate',
      tag: 'Chat',
      summary: 'Generate token ids from token ids',
      access: 'chat',
      role: 'serve',
      generates: 'answers',
      errors: [400, 404, 429, 503],
      body: { schema: generateRequestSchema, read: parseGenerateRequest },
      answer: generatedSchema,
      alsoStreams: true,
      async handle({ body: { request, format }, ...call }) {
        const generation = generations.begin(call, 'text_completion', format.requestId, wire.generationId);
        const { context, startMs, because, measured } = generation;
        try {
          const requestId = wire.generationId(context.requestId);
          const [answer] = await completions.start({ ...context, answerId: requestId }, request);
          const head = { requestId, createdAtMs: startMs, answer: answer!, format };
          if (format.stream) {
            const onError = (error: unknown) => sseFrame({ error: errorResponse(error).body.error }) + SSE_DONE;
            return await generation.stream(chunks(head, generation, request.n), onError);
          }
          const choices = await collectChoices(measured(answer!, request.n), request.n);
          return await sendLarge(call.reply, wire.generatedTokens(head, choices));
        } catch (error) {
          throw because(error);
        }
      },
    }),
  ];
}

async function* chunks(head: wire.GeneratedHead, { measured }: Generation, n: number): AsyncGenerator<string> {
  const writer = wire.createGeneratedChunks(head, n);
  for await (const delta of measured(head.answer, n)) yield sseFrame(writer.delta(delta));
  if (head.format.includeUsage) yield sseFrame(writer.usage());
  yield SSE_DONE;
}
