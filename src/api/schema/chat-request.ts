// A chat request as it comes over the wire → ChatRequest (services/chat.ts) and ChatFormat, which says how the answer is
// written. Rules across fields come first and hide type errors, as in vLLM; then every wrong field is reported at once.
import { z } from 'zod';
import type { ChatRequest } from '#services/chat';
import { boolean, integer, number, union } from './lax.ts';
import { message, tool } from './message.ts';
import { NOT_SUPPORTED_FIELDS, refuseNotSupported } from './not-supported.ts';
import { parse, refuse, ValidationError } from './validation.ts';

export interface ChatFormat {
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
  /** `token` in logprobs is `token_id:N`. Null: the model decides. */
  readonly tokensAsTokenIds: boolean | null;
  readonly returnTokenIds: boolean;
  readonly requestId: string | null;
}

const MAX_CHOICES = 128; // as OpenAI; each is a sequence in the engine
const MAX_STOPS = 64; // every token is matched against each
const MAX_TOP_LOGPROBS = 20; // as OpenAI

const SEED_MIN = -(2n ** 63n);
const SEED_MAX = 2n ** 63n - 1n;

export const chatRequestSchema = z.looseObject({
  model: z.string().nullish().meta({ description: 'A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model.' }),
  messages: z.array(message).min(1),
  tools: z.array(tool).nullish().meta({ description: 'Shown to the model by its chat template. Answers are not parsed for calls yet.' }),
  n: integer({ ge: 1, le: MAX_CHOICES }).nullish(),
  temperature: number({ ge: 0 }).nullish().meta({ description: '0 is greedy. Default: generation_config.json of the model, else 1.' }),
  top_p: number({ gt: 0, le: 1 }).nullish(),
  top_k: integer({ ge: -1 }).nullish().meta({ description: '0 and -1: off.' }),
  seed: z.unknown().optional().meta({ type: ['integer', 'null'], description: 'Same seed, same answer, whatever else runs. Choice i samples with seed + i. -1: none.' }),
  max_tokens: integer({ ge: 1 }).nullish(),
  max_completion_tokens: integer({ ge: 0 }).nullish().meta({ description: 'Wins over max_tokens; 0 counts as unset. Default: what fits in the context.' }),
  stop: union({ str: z.string().min(1), 'list[str]': z.array(z.string().min(1)).max(MAX_STOPS) }).nullish(),
  logprobs: boolean().nullish().meta({ description: 'Default: false on base models, true on trainable models (rollouts need them).' }),
  top_logprobs: integer({ ge: 0, le: MAX_TOP_LOGPROBS }).nullish(),
  return_tokens_as_token_ids: boolean().nullish().meta({ description: 'Write tokens in logprobs as `token_id:N`. Default: true on trainable models.' }),
  return_token_ids: boolean().nullish(),
  stream: boolean().nullish(),
  stream_options: z.looseObject({ include_usage: boolean().nullish(), continuous_usage_stats: boolean().nullish() }).nullish(),
  user: z.string().nullish(),
  request_id: z.string().optional(),
}); // prettier-ignore

export function parseChatRequest(body: unknown): { request: ChatRequest; format: ChatFormat } {
  if (isObject(body)) refuseForbiddenCombinations(body);
  const wire = parseWithNotSupported(body);
  const stops = wire.stop ?? [];
  const includeUsage = wire.stream_options ? (wire.stream_options.include_usage ?? true) : false;
  return {
    request: {
      model: wire.model || null,
      messages: wire.messages,
      tools: wire.tools && wire.tools.length > 0 ? wire.tools : null,
      n: wire.n ?? 1,
      temperature: wire.temperature ?? null,
      topP: wire.top_p ?? null,
      topK: wire.top_k === undefined || wire.top_k === null ? null : Math.max(0, wire.top_k),
      seed: wire.seed,
      maxTokens: wire.max_completion_tokens || (wire.max_tokens ?? null),
      maxTokensField: wire.max_completion_tokens ? 'max_completion_tokens' : 'max_tokens',
      stop: typeof stops === 'string' ? [stops] : stops,
      // An explicit null for top_logprobs turns logprobs off, as in vLLM.
      logprobs: wire.logprobs === true && wire.top_logprobs === null ? false : (wire.logprobs ?? null),
      topLogprobs: wire.top_logprobs ?? 0,
    },
    format: {
      stream: wire.stream ?? false,
      includeUsage,
      continuousUsage: includeUsage && (wire.stream_options?.continuous_usage_stats ?? false),
      tokensAsTokenIds: wire.return_tokens_as_token_ids ?? null,
      returnTokenIds: wire.return_token_ids ?? false,
      requestId: wire.request_id ?? null,
    },
  };
}

/** Both kinds of complaint in one answer. */
function parseWithNotSupported(body: unknown) {
  const items = isObject(body) ? refuseNotSupported(body) : [];
  let seed: number | null = null;
  if (isObject(body)) {
    const read = readSeed(body.seed);
    if (typeof read === 'object' && read !== null) items.push({ ...read, loc: ['body', 'seed'], input: body.seed });
    else seed = read;
  }
  try {
    const wire = parse(chatRequestSchema, body, 'body');
    if (items.length > 0) throw new ValidationError(items);
    return { ...wire, seed };
  } catch (error) {
    if (error instanceof ValidationError && error.items !== items)
      throw new ValidationError([...error.items, ...items]);
    throw error;
  }
}

/** vLLM's order of checks, last declared first. One item is reported. */
function refuseForbiddenCombinations(body: Readonly<Record<string, unknown>>): void {
  if (
    body.cache_salt !== undefined &&
    body.cache_salt !== null &&
    (typeof body.cache_salt !== 'string' || body.cache_salt === '')
  ) {
    refuse(['body'], "Parameter 'cache_salt' must be a non-empty string if provided.", body);
  }
  if (body.continue_final_message === true && body.add_generation_prompt === true) {
    refuse(['body'], 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.', body);
  }
  if (typeof body.top_logprobs === 'number' && body.top_logprobs > 0 && !body.logprobs) {
    refuse(['body'], 'when using `top_logprobs`, `logprobs` must be set to true.', body);
  }
  if (isObject(body.stream_options) && Object.keys(body.stream_options).length > 0 && body.stream !== true) {
    refuse(['body'], 'Stream options can only be defined when `stream=True`.', body);
  }
}

type SeedComplaint = { type: string; msg: string; ctx?: Readonly<Record<string, unknown>> };

/** 64-bit seeds come as strings (json-body.ts) and are folded to 52 bits: seed + choice must stay exact. Null: none. */
function readSeed(value: unknown): number | null | SeedComplaint {
  if (value === undefined || value === null) return null;
  const checked = integer().safeParse(value);
  if (!checked.success && !(typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value))) {
    const params = checked.error.issues[0] as { params?: { complaint?: SeedComplaint } };
    return params.params?.complaint ?? { type: 'int_type', msg: 'Input should be a valid integer' };
  }
  const seed =
    typeof value === 'string' ? BigInt(value.trim().replace(/^\+|\.0+$/g, '')) : BigInt(checked.data as number);
  if (seed < SEED_MIN) {
    return {
      type: 'greater_than_equal',
      msg: `Input should be greater than or equal to ${SEED_MIN}`,
      ctx: { ge: Number(SEED_MIN) },
    };
  }
  if (seed > SEED_MAX) {
    return {
      type: 'less_than_equal',
      msg: `Input should be less than or equal to ${SEED_MAX}`,
      ctx: { le: Number(SEED_MAX) },
    };
  }
  return seed === -1n ? null : Number(BigInt.asUintN(52, seed));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** For OpenAPI: what is known and refused. */
export { NOT_SUPPORTED_FIELDS };
