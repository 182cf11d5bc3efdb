// Stored responses: read, stream, cancel, delete, and list their input items.
import { z } from 'zod';
import { AppError } from '#domain/errors';
import { PAGE_WEIGHT_MAX, unknownCursor } from '#domain/page';
import type { WireObject } from '#services/responses/response-content';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { boolean, integer } from '#validation/lax';
import { itemList } from './responses-items.ts';
import { responseSchema } from './responses-response-schema.ts';
import { sendResponseEvents } from './response-events.ts';

const readQuery = z.looseObject({
  stream: boolean()
    .optional()
    .describe('Stream the events of the response. Only for responses created with `background` and `stream`.'),
  starting_after: integer({ ge: 0 }).optional().describe('Return only events after this sequence number.'),
});

const itemsQuery = z.looseObject({
  after: z.string().optional().describe('Id of the last item of the previous page.'),
  limit: integer({ ge: 1, le: 100 }).default(20),
  order: z.enum(['asc', 'desc']).default('desc'),
});

const deletedResponse = z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) });

const shared = { tag: 'Chat', access: 'chat', role: 'serve' } as const;

/** `closing`: as in responseRoutes. */
export function keptResponseRoutes(
  { responses, log }: Pick<ApiServices, 'responses' | 'log'>,
  limits: ApiLimits,
  closing: AbortSignal,
): Endpoint[] {
  return [
    endpoint({
      ...shared,
      method: 'GET',
      path: '/v1/responses/{response_id}',
      summary: 'Read a stored response, or stream a background response',
      errors: [400, 404],
      query: readQuery,
      answer: responseSchema,
      alsoStreams: true,
      async handle({ params, query: { stream, starting_after: after }, ...call }) {
        const id = params.response_id!;
        if (stream) return sendResponseEvents({ responses, log }, call, { id, after: after ?? -1 }, limits, closing);
        if (after === undefined) return responses.get(call.caller, id);
        throw new AppError('invalid_request', 'starting_after needs stream=true.', { param: 'starting_after' });
      },
    }),
    endpoint({
      ...shared,
      method: 'DELETE',
      path: '/v1/responses/{response_id}',
      summary: 'Delete a response. A background response that is still running is stopped',
      errors: [404],
      answer: deletedResponse,
      async handle({ caller, params }) {
        const id = params.response_id!;
        await responses.delete(caller, id);
        return { id, object: 'response', deleted: true };
      },
    }),
    endpoint({
      ...shared,
      method: 'POST',
      path: '/v1/responses/{response_id}/cancel',
      summary: 'Cancel a background response. A response that has ended is not changed',
      errors: [400, 404],
      answer: responseSchema,
      handle: ({ caller, params }) => responses.cancel(caller, params.response_id!),
    }),
    endpoint({
      ...shared,
      method: 'GET',
      path: '/v1/responses/{response_id}/input_items',
      summary: 'List the input items of a response. Includes the items of the previous conversation',
      errors: [400, 404],
      query: itemsQuery,
      answer: itemList,
      async handle({ caller, params, query }) {
        return pageOf(await responses.inputOf(caller, params.response_id!), query);
      },
    }),
  ];
}

/** Ends before the item that would make it too heavy, but has one at least. */
function pageOf(items: readonly WireObject[], { after, limit, order }: z.output<typeof itemsQuery>) {
  const ordered = order === 'asc' ? items : items.toReversed();
  const seen = after ? ordered.findIndex(({ id }) => id === after) : -1;
  if (after && seen < 0) throw unknownCursor(after);
  const data: WireObject[] = [];
  let weight = 0;
  for (const item of ordered.slice(seen + 1, seen + 1 + limit)) {
    weight += JSON.stringify(item).length;
    if (data.length > 0 && weight > PAGE_WEIGHT_MAX) break;
    data.push(item);
  }
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: seen + 1 + data.length < ordered.length,
  };
}
