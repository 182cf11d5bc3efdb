// POST /v1/embeddings: vectors of texts, computed by the hosted decoder.
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import type { Generations } from '../http/generations.ts';
import { sendLarge } from '../http/large-answer.ts';
import {
  embeddingList,
  embeddingListSchema,
  embeddingRequestSchema,
  parseEmbeddingRequest,
} from './embeddings-schema.ts';

export function embeddingRoutes({ embed }: Pick<ApiServices, 'embed'>, generations: Generations): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/embeddings',
      tag: 'Chat',
      summary:
        'Create embeddings of texts or token ids. The vectors are the last hidden state of the model, normalized to length 1',
      access: 'chat',
      role: 'serve',
      generates: 'vectors',
      errors: [400, 404, 429, 503],
      body: { schema: embeddingRequestSchema, read: parseEmbeddingRequest },
      answer: embeddingListSchema,
      async handle({ body: { request, format }, ...call }) {
        const { context, because } = generations.begin(call, 'embeddings', format.requestId, null);
        try {
          return await sendLarge(call.reply, embeddingList(await embed(context, request), format));
        } catch (error) {
          throw because(error);
        }
      },
    }),
  ];
}
