// Paths of OpenAI's and Anthropic's APIs that clients ask for and that are not served: what to do instead, in words. Knows no endpoint.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#domain/errors';
import { sendError } from './error-response.ts';

const BATCHES =
  'Batches are not supported. Send the requests one by one; those in the background with POST /v1/responses.';

const ABSENT: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/(messages\/)?batches(\/|$)/, BATCHES],
  [/^\/v1\/responses\/compact$/, 'Conversations are not compacted. Ask for a summary in a request of your own.'],
  [/^\/v1\/conversations(\/|$)/, 'Conversations are not kept. Continue a response with previous_response_id.'],
  [
    /^\/v1\/fine_tuning(\/|$)/,
    'OpenAI’s fine-tuning jobs are not supported. POST /v1/preview/training-jobs trains a model.',
  ],
  [/^\/v1\/files(\/|$)/, 'Files are not supported. Data for training is kept as artifacts: GET /docs.'],
  [/^\/v1\/(audio|images|videos)(\/|$)/, 'Models here read and write text only.'],
  [/^\/v1\/moderations$/, 'Moderation is not supported.'],
  [
    /^\/v1\/(assistants|threads|vector_stores)(\/|$)/,
    'Assistants are not supported. POST /v1/responses answers with tools.',
  ],
];

/** Null: nothing is known about this path. */
export function refuseAbsent(path: string, request: FastifyRequest, reply: FastifyReply): FastifyReply | null {
  const words = ABSENT.find(([pattern]) => pattern.test(path))?.[1];
  if (words === undefined) return null;
  return sendError(reply, new AppError('not_found', `Not Found: ${request.method} ${path.slice(0, 200)}. ${words}`));
}
