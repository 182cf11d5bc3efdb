// POST /v1/responses: chat in the format of OpenAI's Responses API, complete, as typed events, or in the background; and the count of its
// input. Stored responses are read through kept-responses.ts.
import { AppError } from '#domain/errors';
import type { ResponseContent, ResponseEvent, WireObject } from '#services/responses/response-content';
import type { NewResponse } from '#services/responses/responses';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import type { GenerationCall, Generations } from '../http/generations.ts';
import { jsonText, sendLarge } from '../http/large-answer.ts';
import { unreadVariables } from '../chat/unread-variables.ts';
import { refuseLargeConversation } from './conversation-bounds.ts';
import { responsesRequestSchema } from './responses-fields.ts';
import type { Item } from './responses-input.ts';
import { listedItems, responseId, responseOfItem } from './responses-items.ts';
import { parseResponsesRequest, type Recalled, type ResponsesRequest } from './responses-request.ts';
import * as wire from './responses-response.ts';
import { inputTokensSchema, responseSchema } from './responses-response-schema.ts';
import { answerSignal } from '../http/sse.ts';
import { warned } from '#validation/unknown-fields';
import { eventStream, sendResponseEvents } from './response-events.ts';

type Services = Pick<ApiServices, 'chat' | 'responses' | 'clock' | 'log'>;

/** `closing` aborts when the server stops, so that streams do not delay the shutdown. */
export function responseRoutes(
  { chat, responses, clock, log }: Services,
  generations: Generations,
  limits: ApiLimits,
  closing: AbortSignal,
): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/responses',
      tag: 'Chat',
      summary: 'Create a response (OpenAI’s Responses API)',
      access: 'chat',
      role: 'serve',
      generates: 'answers',
      errors: [400, 404, 409, 429, 503],
      creates: true,
      body: { schema: responsesRequestSchema, read: parseResponsesRequest },
      answer: responseSchema,
      alsoStreams: true,
      async handle({ body: asked, newId, ...call }) {
        const { caller, request } = call;
        if (asked.stream && isRepeatable(request.headers)) refuseRepeats();
        const id = responseId(newId);
        const store = asked.store ?? (responses.keeps || asked.background);
        const known = store && isRepeatable(request.headers) ? await responses.find(caller, id) : null;
        if (known) return known; // the first request with this Idempotency-Key did its work, but was interrupted before the answer
        if (store) await responses.checkRoom(caller);
        const { request: chatRequest, input, warnings } = asked.complete(await recall(call, asked));
        const createdAtMs = clock.now();
        const head = headOf(asked, { id, createdAtMs, store, warnings, model: chatRequest.model ?? '' });
        const kept = (content: Omit<ResponseContent, 'input'>): NewResponse => ({
          id,
          createdAtMs,
          content: { ...content, input: listedItems(input, id) },
        });

        const generation = generations.begin(call, 'chat', null, () => id);
        const { context, because } = generation;
        if (asked.background) {
          if (context.episode) refuseBackground();
          const response = wire.queuedResponse(head);
          const events = asked.stream ? wire.openingEvents(head) : null;
          const work = { request: chatRequest, head: head as unknown as WireObject };
          const queued = await responses.submit(context, kept({ response, events, work }));
          return asked.stream
            ? await sendResponseEvents({ responses, log }, call, { id, after: -1 }, limits, closing)
            : queued;
        }

        /** Stored before the client is told that it exists. */
        async function* keeping(
          events: AsyncIterable<ResponseEvent>,
          baseModel: string,
        ): AsyncGenerator<ResponseEvent> {
          let last: ResponseEvent | null = null;
          for await (const event of events) {
            if (last) yield last;
            last = event;
          }
          if (!last) return;
          const response = last['response'] as WireObject;
          if (store) await responses.keep(context, baseModel, kept({ response, events: null, work: null }));
          yield last;
        }

        try {
          const answer = await chat.start({ ...context, answerId: id }, chatRequest);
          const wireEvents = wire.responseEvents(head, answer, generation.measured(answer, 1), () => clock.now());
          const events = keeping(wireEvents, answer.model.base.id);
          if (!asked.stream) return await sendResponse(call, await lastResponse(events));
          const { frames, broken } = eventStream(events);
          return await generation.stream(frames, broken);
        } catch (error) {
          throw because(error);
        }
      },
    }),
    endpoint({
      method: 'POST',
      path: '/v1/responses/input_tokens',
      tag: 'Chat',
      summary: 'Count the input tokens of a response (OpenAI’s Responses API). Nothing is generated or stored',
      access: 'chat',
      role: 'serve',
      errors: [400, 404, 429, 503],
      body: { schema: responsesRequestSchema, read: parseResponsesRequest },
      answer: inputTokensSchema,
      async handle({ caller, body: asked, reply }) {
        const { request, warnings } = asked.complete(await recall({ caller, reply }, asked));
        const { model, tokens } = await chat.prompt({ caller, signal: answerSignal(reply) }, request);
        const told = warned([...warnings, ...unreadVariables({ model }, asked.variables)]);
        return { object: 'response.input_tokens', input_tokens: tokens.length, ...told };
      },
    }),
  ];

  /** Reads each stored response once. Throws `invalid_request` if all of it is too large. */
  async function recall({ caller, reply }: Pick<GenerationCall, 'caller' | 'reply'>, asked: ResponsesRequest) {
    const { previousId, namedItems } = asked;
    if (previousId === null && namedItems.length === 0) return NOTHING_RECALLED;
    const signal = answerSignal(reply);
    const conversation = previousId === null ? [] : await responses.conversationOf(caller, previousId);
    const items = new Map<string, Item>(conversation.toReversed().map((item) => [String(item['id']), item]));
    const named = new Map<string, string[]>();
    for (const id of namedItems) {
      if (items.has(id)) continue;
      const response = responseOfItem(id) ?? '';
      const others = named.get(response);
      if (others) others.push(id);
      else named.set(response, [id]);
    }
    for (const [response, ids] of named) {
      if (signal.aborted) throw new AppError('cancelled', 'The client has left.');
      for (const item of await responses.itemsOf(caller, response, ids)) items.set(String(item['id']), item);
    }
    const recalled: Recalled = { conversation, items };
    const param = previousId === null ? 'input' : 'previous_response_id';
    await refuseLargeConversation(asked.inputOf(recalled), { bytesMax: limits.bodyBytesMax, param });
    return recalled;
  }
}

const NOTHING_RECALLED: Recalled = { conversation: [], items: new Map() };

const isRepeatable = (headers: Readonly<Record<string, unknown>>): boolean => headers['idempotency-key'] !== undefined;

/** It would be answered later, when the episode may have ended. */
function refuseBackground(): never {
  const message = 'A response in the background cannot be a call of an episode. Send background: false.';
  throw new AppError('invalid_request', message, { param: 'background' });
}

/** A stream cannot be repeated as an answer. */
function refuseRepeats(): never {
  const message =
    'A stream cannot be repeated by its Idempotency-Key. Leave the header or stream out; a stream in the background can be read again.';
  throw new AppError('invalid_request', message, { param: 'stream' });
}

function headOf(
  { background, previousId, echoed, logprobs, namespaces, variables }: ResponsesRequest,
  known: Pick<wire.ResponseHead, 'id' | 'createdAtMs' | 'store' | 'warnings' | 'model'>,
): wire.ResponseHead {
  return { ...known, background, previousId, echoed, logprobs, namespaces, variables };
}

/** An answer that is kept under an Idempotency-Key is kept as JSON. */
const sendResponse = ({ request, reply }: GenerationCall, response: object): unknown =>
  isRepeatable(request.headers) ? (JSON.parse(jsonText(response)) as unknown) : sendLarge(reply, response);

async function lastResponse(events: AsyncIterable<ResponseEvent>): Promise<object> {
  let last: ResponseEvent | null = null;
  for await (const event of events) last = event;
  return last!['response'] as object;
}
