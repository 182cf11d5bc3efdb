// POST /v1/embeddings in OpenAI's format, with the fields that vLLM adds, and its answer.
import { z } from 'zod';
import { lazily } from '#base/lazy-list';
import type { Embedded, EmbeddingRequest } from '#services/chat/embeddings';
import { EMBEDDING_DECISIONS } from './chat-decisions.ts';
import { applyDecisions } from './field-decisions.ts';
import { modelField, servingFields, truncationFields } from './generation-fields.ts';
import { boolean, integer, list, union } from '#validation/lax';
import { warned, warnings } from '#validation/unknown-fields';
import { parse, refuse } from '#validation/parse';

const INPUTS_MAX = 2_048; // as OpenAI
/** More values than a body can have. */
const INPUT_TOKENS_MAX = 250_000;
/** Wider than any model; the service knows the width of the current one. */
const DIMENSIONS_MAX = 1_000_000;

const tokenIds = () => list(integer({ ge: 0 }), INPUT_TOKENS_MAX);

export const embeddingRequestSchema = z
  .looseObject({
    model: modelField,
    input: union({
      str: z.string(),
      'list[str]': list(z.string(), INPUTS_MAX),
      'list[int]': tokenIds(),
      'list[list[int]]': list(tokenIds(), INPUTS_MAX),
    }).describe('A text, token ids, or a list of either, with one vector for each.'),
    encoding_format: z
      .enum(['float', 'base64'])
      .nullish()
      .describe('base64: little-endian float32 values. Default: float.'),
    dimensions: integer({ ge: 1, le: DIMENSIONS_MAX })
      .nullish()
      .describe(
        'Truncate each vector to this many numbers and normalize it to length 1 again. The models were not trained for that. Default: all.',
      ),
    ...truncationFields,
    add_special_tokens: boolean()
      .nullish()
      .describe('Add special tokens of the tokenizer (such as BOS). Default: true.'),
    priority: servingFields.priority,
    request_id: servingFields.request_id,
    cache_salt: servingFields.cache_salt,
    user: servingFields.user,
  })
  .meta({ title: 'EmbeddingRequest' });

export interface EmbeddingFormat {
  readonly isBase64: boolean;
  readonly requestId: string | null;
  readonly warnings: readonly string[];
}

export function parseEmbeddingRequest(body: unknown): { request: EmbeddingRequest; format: EmbeddingFormat } {
  const wire = parse(embeddingRequestSchema, body, 'body');
  const inputs = inputsOf(wire.input);
  if (inputs.length === 0) refuse(['body', 'input'], 'Send at least one input.', wire.input);
  return {
    request: {
      model: wire.model || null,
      inputs,
      dimensions: wire.dimensions ?? null,
      addSpecialTokens: wire.add_special_tokens ?? true,
      truncation: {
        truncatePromptTokens: wire.truncate_prompt_tokens ?? null,
        truncationSide: wire.truncation_side ?? 'left',
      },
      priority: wire.priority ?? 0,
      cacheSalt: wire.cache_salt ?? null,
    },
    format: {
      isBase64: wire.encoding_format === 'base64',
      requestId: wire.request_id ?? null,
      warnings: applyDecisions(embeddingRequestSchema, EMBEDDING_DECISIONS, wire),
    },
  };
}

function inputsOf(input: z.output<typeof embeddingRequestSchema>['input']): EmbeddingRequest['inputs'] {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input as number[]] : (input as (string | number[])[]);
}

export const embeddingListSchema = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z
          .union([z.array(z.number()), z.string()])
          .describe('The vector: numbers, or base64 of little-endian float32.'),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
    warnings,
  })
  .meta({ title: 'EmbeddingList' });

/** Has a lazy list: two thousand vectors are millions of numbers. */
export function embeddingList(
  { servedName, vectors, promptTokenCount }: Embedded,
  { isBase64, warnings: told }: EmbeddingFormat,
) {
  return {
    object: 'list',
    data: lazily([...vectors.entries()], ([index, vector]) => ({
      object: 'embedding',
      index,
      embedding: isBase64 ? base64(vector) : Array.from(vector),
    })),
    model: servedName,
    usage: { prompt_tokens: promptTokenCount, total_tokens: promptTokenCount },
    ...warned(told),
  };
}

function base64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString('base64');
}
