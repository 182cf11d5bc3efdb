// Sends the events of Responses: those of an answer generated for this connection, and those of a background response, which a client
// can stop and resume streaming.
import type { FastifyReply } from 'fastify';
import type { ResponseEvent } from '#services/responses/response-content';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { errorResponse } from '../http/error-response.ts';
import type { GenerationCall } from '../http/generations.ts';
import { errorEvent } from './responses-response.ts';
import { jsonText } from '../http/large-answer.ts';
import { clientSignal, sendEvents, sseEvent, sseEventOf } from '../http/sse.ts';

/** A stream of events, and the event that says why it broke off. `after`: the number of the last event that the client has. */
export function eventStream(events: AsyncIterable<ResponseEvent>, after = -1) {
  let last = after;
  async function* frames(): AsyncGenerator<string> {
    for await (const event of events) {
      last = event.sequence_number;
      yield sseEventOf(event.type, jsonText(event));
    }
  }
  return {
    frames: frames(),
    broken: (error: unknown): string => sseEvent('error', errorEvent(errorResponse(error).body.error, last + 1)),
  };
}

/** For a stored response; `after` is the number of the last event that the client has. */
export async function sendResponseEvents(
  { responses, log }: Pick<ApiServices, 'responses' | 'log'>,
  { caller, reply }: GenerationCall,
  { id, after }: { readonly id: string; readonly after: number },
  { pingMs, connections }: ApiLimits,
  closing: AbortSignal,
): Promise<FastifyReply> {
  const signal = clientSignal(reply, closing);
  const { frames, broken } = eventStream(responses.follow(caller, id, after, signal), after);
  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn('response.not_followed', { responseId: id, err: error });
    return signal.aborted ? '' : broken(error);
  };
  await sendEvents(reply, frames, onError, { pingMs, stallMs: connections.writeStallMs });
  return reply;
}
