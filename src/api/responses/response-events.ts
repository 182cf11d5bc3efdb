// Sends the events of Responses: those of an answer generated for this connection, and those of a background response, which a client
// can stop and resume streaming.
import type { FastifyReply } from 'fastify';
import type { ResponseEvent } from '#services/responses/response-content';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { errorResponse } from '../http/error-response.ts';
import type { GenerationCall } from '../http/generations.ts';
import { errorEvent } from './responses-response.ts';
import { clientSignal, sendEvents, sseEvent } from '../http/sse.ts';

export async function* responseFrames(events: AsyncIterable<ResponseEvent>): AsyncGenerator<string> {
  for await (const event of events) yield sseEvent(event.type, event);
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
  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn('response.not_followed', { responseId: id, err: error });
    return signal.aborted ? '' : sseEvent('error', errorEvent(errorResponse(error).body.error));
  };
  const frames = responseFrames(responses.follow(caller, id, after, signal));
  await sendEvents(reply, frames, onError, { pingMs, stallMs: connections.writeStallMs });
  return reply;
}
