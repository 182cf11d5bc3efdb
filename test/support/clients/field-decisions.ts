// What each field of the clients' packages means on this server: read from the schemas of the requests and from the tables of decisions.
// Knows no server.
import type { z } from 'zod';
import { CHAT_DECISIONS, COMPLETION_DECISIONS, EMBEDDING_DECISIONS, OF_VLLM } from '#api/chat/chat-decisions';
import { chatRequestSchema } from '#api/chat/chat-request';
import { completionRequestSchema } from '#api/chat/completion-request';
import { embeddingRequestSchema } from '#api/chat/embeddings-schema';
import type { Decisions } from '#api/chat/field-decisions';
import { detokenizeSchema, tokenizeSchema } from '#api/chat/tokenize-schema';
import {
  GENERATE_DECISIONS,
  generateRequestSchema,
  SAMPLING_DECISIONS,
  samplingParamsSchema,
} from '#api/generate/generate-request';
import { COUNT_DECISIONS, MESSAGES_DECISIONS } from '#api/messages/messages-decisions';
import { countTokensSchema, messagesRequestSchema } from '#api/messages/messages-request';
import { RESPONSES_DECISIONS } from '#api/responses/responses-decisions';
import { responsesRequestSchema } from '#api/responses/responses-fields';

/** By the names of requests in python/sdks/request_fields.py. */
const REQUESTS: Readonly<
  Record<
    string,
    { readonly path: string; readonly schema: z.ZodObject; readonly decisions: Decisions; readonly within?: string }
  >
> = {
  chat: { path: '/v1/chat/completions', schema: chatRequestSchema, decisions: CHAT_DECISIONS },
  completions: { path: '/v1/completions', schema: completionRequestSchema, decisions: COMPLETION_DECISIONS },
  embeddings: { path: '/v1/embeddings', schema: embeddingRequestSchema, decisions: EMBEDDING_DECISIONS },
  responses: { path: '/v1/responses', schema: responsesRequestSchema, decisions: RESPONSES_DECISIONS },
  messages: { path: '/v1/messages', schema: messagesRequestSchema, decisions: MESSAGES_DECISIONS },
  count_tokens: { path: '/v1/messages/count_tokens', schema: countTokensSchema, decisions: COUNT_DECISIONS },
  tokenize: { path: '/tokenize', schema: tokenizeSchema, decisions: OF_VLLM },
  tokenize_chat: { path: '/tokenize', schema: tokenizeSchema, decisions: OF_VLLM },
  detokenize: { path: '/detokenize', schema: detokenizeSchema, decisions: {} },
  generate: { path: '/inference/v1/generate', schema: generateRequestSchema, decisions: GENERATE_DECISIONS },
  generate_sampling: {
    path: '/inference/v1/generate',
    schema: samplingParamsSchema,
    decisions: SAMPLING_DECISIONS,
    within: 'sampling_params',
  },
};

/** Refused where the request is read, in a form of its own. */
const REFUSED_THERE = { thread: 'The server does not keep threads. Send the whole conversation without thread.' };

export interface Meaning {
  readonly use: 'honoured' | 'harmless' | 'refused';
  readonly why: string;
}

/** Null: nobody decided. */
function meaningOf(request: string, field: string): Meaning | null {
  const { schema, decisions } = REQUESTS[request]!;
  const decision = Object.hasOwn(decisions, field) ? decisions[field]! : null;
  if (decision) return { use: decision.kind, why: decision.why };
  if (request === 'messages' && field in REFUSED_THERE)
    return { use: 'refused', why: REFUSED_THERE[field as keyof typeof REFUSED_THERE] };
  if (!Object.hasOwn(schema.shape, field)) return null;
  const { description = '' } = (schema.shape[field] as z.ZodType).meta() ?? {};
  const unused = /^No effect(?:: (.*))?\.$/.exec(description);
  return unused
    ? { use: 'harmless', why: unused[1] ?? 'it does not concern the answer.' }
    : { use: 'honoured', why: '' };
}

export type PackageFields = Readonly<
  Record<string, { readonly version: string; readonly requests: Readonly<Record<string, readonly string[]>> }>
>;

/** Fields without a decision, as `package request.field`. */
export const undecided = (packages: PackageFields): string[] =>
  Object.entries(packages).flatMap(([name, { requests }]) =>
    Object.entries(requests).flatMap(([request, fields]) =>
      fields.filter((field) => meaningOf(request, field) === null).map((field) => `${name} ${request}.${field}`),
    ),
  );

/** Endpoint, field, use and reason of every field that is not read. */
export function fieldRows(packages: PackageFields): string[][] {
  const rows = new Map<string, string[]>();
  for (const { requests } of Object.values(packages))
    for (const [request, fields] of Object.entries(requests))
      for (const field of fields) {
        const meaning = meaningOf(request, field);
        if (meaning === null || meaning.use === 'honoured') continue;
        const { path, within } = REQUESTS[request]!;
        const named = within === undefined ? field : `${within}.${field}`;
        rows.set(`${path} ${named}`, [`\`${path}\``, `\`${named}\``, meaning.use, meaning.why]);
      }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
