// POST /v1/completions: continuations of texts or token ids, complete or as a stream of chunks.
import { mergeStreams } from '#base/merge-streams';
import { collectShown } from '#services/chat/collected-choice';
import { bestChoices } from '#services/chat/completions';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { errorResponse } from '../http/error-response.ts';
import { type Generation, type Generations } from '../http/generations.ts';
import { sendLarge } from '../http/large-answer.ts';
import { completionRequestSchema, parseCompletionRequest } from './completion-request.ts';
import * as wire from './completion-response.ts';
import { textCompletionSchema } from './completion-response-schema.ts';
import { SSE_DONE, sseFrame } from '../http/sse.ts';

export function completionRoutes(
  { completions }: Pick<ApiServices, 'completions'>,
  generations: Generations,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/completions',
      tag: 'Chat',
      summary: 'Create a completion of texts or token ids',
      access: 'chat',
      role: 'serve',
      generates: 'answers',
      errors: [400, 404, 429, 503],
      body: { schema: completionRequestSchema, read: parseCompletionRequest },
      answer: textCompletionSchema,
      alsoStreams: true,
      async handle({ body: { request, format }, ...call }) {
        const generation = generations.begin(call, 'text_completion', format.requestId, wire.completionId);
        const { context, startMs, because } = generation;
        try {
          const id = wire.completionId(context.requestId);
          const answers = await completions.start({ ...context, answerId: id }, request);
          const head = { id, createdAtMs: startMs, answers, format };
          if (format.stream) {
            const onError = (error: unknown) => sseFrame({ error: errorResponse(error).body.error }) + SSE_DONE;
            return await generation.stream(chunks(head, generation, request.n), onError);
          }
          const choices = await collectAnswers(head, generation, request.bestOf);
          const shown = choices.map((ofPrompt) => bestChoices(ofPrompt, request.n));
          const sampled = choices.flat().reduce((sum, { tokenCount }) => sum + tokenCount, 0);
          return await sendLarge(call.reply, wire.textCompletion(head, shown, sampled));
        } catch (error) {
          throw because(error);
        }
      },
    }),
  ];
}

/** By prompt and choice. All prompts run concurrently; if one fails, all end. */
async function collectAnswers({ answers }: wire.CompletionHead, { measured }: Generation, choices: number) {
  const collected = answers.map(() => Array.from({ length: choices }, collectShown));
  for await (const [prompt, delta] of mergeStreams(answers.map((answer) => measured(answer, choices))))
    collected[prompt]![delta.choiceIndex]!.push(delta);
  return collected;
}

/** The choices of a prompt start with its first token, so that nothing is sent for a request that fails. */
async function* chunks(head: wire.CompletionHead, { measured }: Generation, n: number): AsyncGenerator<string> {
  const { answers, format } = head;
  const writers = answers.map((answer, prompt) =>
    Array.from({ length: n }, (_, choice) => wire.createChoiceChunks(head, answer, prompt * n + choice)),
  );
  const isOpen = answers.map(() => false);
  for await (const [prompt, delta] of mergeStreams(answers.map((answer) => measured(answer, n)))) {
    const ofPrompt = writers[prompt]!;
    if (!isOpen[prompt]) yield* ofPrompt.flatMap((writer) => writer.open()).map((chunk) => sseFrame(chunk));
    isOpen[prompt] = true;
    yield* ofPrompt[delta.choiceIndex]!.delta(delta).map((chunk) => sseFrame(chunk));
  }
  const tokens = writers.flat().reduce((sum, writer) => sum + writer.tokens, 0);
  if (format.includeUsage) yield sseFrame(wire.completionUsageChunk(head, tokens));
  yield SSE_DONE;
}
