// The `logprobs` of a Choice: nearly all of a training body. Parsed by hand in one pass into two lists, either by the schema or
// before it, while the body is still arriving.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { NamedToken } from '#domain/trajectory';
import { NOT_FINITE } from '#validation/lax';

export class PackedLogprobs {
  readonly tokens: NamedToken[] = [];
  /** In nats; null if it was not finite. */
  readonly logprobs: (number | null)[] = [];
}

interface Fault {
  readonly path: readonly (string | number)[];
  readonly type: string;
  readonly msg: string;
}

const wireForm = {
  type: ['object', 'null'],
  properties: {
    content: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        properties: {
          token: { type: 'string', description: '`token_id:N`, or the text of the token' },
          logprob: { type: ['number', 'null'] },
          bytes: {
            type: ['array', 'null'],
            items: { type: 'integer', minimum: 0, maximum: 255 },
            description: 'UTF-8 bytes of the token. They identify the token if its text does not.',
          },
        },
        required: ['token', 'logprob'],
      },
    },
    refusal: { type: ['array', 'null'] },
  },
} as const;

/** Null: the turn has none. */
export const tokenLogprobs = z
  .unknown()
  .optional()
  .transform((value, ctx): PackedLogprobs | null => {
    const read = readLogprobs(value);
    if (read === null || read instanceof PackedLogprobs) return read;
    const { path, type, msg } = read;
    ctx.addIssue({ code: 'custom', path: [...path], message: msg, params: { complaint: { type, msg } } });
    return null;
  })
  .meta({ ...wireForm });

/** In place, in every history of an incoming trajectory; values that cannot be read are left for the schema to report. */
export function packLogprobs(trajectory: unknown): void {
  for (const history of [trajectory, ...listIn(trajectory, 'additional_histories')]) {
    for (const turn of listIn(history, 'messages_and_choices')) {
      if (!isObject(turn) || !('logprobs' in turn)) continue;
      const read = readLogprobs(turn['logprobs']);
      if (read instanceof PackedLogprobs) (turn as { logprobs: unknown }).logprobs = read;
    }
  }
}

function listIn(value: unknown, key: string): unknown[] {
  const list = isObject(value) ? value[key] : null;
  return Array.isArray(list) ? list : [];
}

/** `refusal` contains the tokens if the content is empty. */
function readLogprobs(value: unknown): PackedLogprobs | Fault | null {
  if (value === undefined || value === null || value instanceof PackedLogprobs) return value ?? null;
  if (!isObject(value)) {
    return { path: [], type: 'dict_type', msg: 'Input should be a valid dictionary' };
  }
  const { content, refusal } = value;
  const field = isEmpty(content) && !isEmpty(refusal) ? 'refusal' : 'content';
  const tokens = field === 'content' ? content : refusal;
  if (tokens === undefined || tokens === null) return null;
  if (!Array.isArray(tokens)) return { path: [field], type: 'list_type', msg: 'Input should be a valid list' };
  const packed = new PackedLogprobs();
  for (let i = 0; i < tokens.length; i++) {
    const fault = addToken(packed, tokens[i]);
    if (fault) return { ...fault, path: [field, i, ...fault.path] };
  }
  return packed;
}

function addToken({ tokens, logprobs }: PackedLogprobs, item: unknown): Fault | null {
  if (!isObject(item)) {
    return { path: [], type: 'dict_type', msg: 'Input should be a valid dictionary' };
  }
  const { token, logprob, bytes } = item;
  if (typeof token !== 'string') return { path: ['token'], type: 'string_type', msg: 'Input should be a valid string' };
  if (logprob === undefined) return { path: ['logprob'], type: 'missing', msg: 'Field required' };
  const finite = logprob === null || NOT_FINITE.has(logprob) ? null : logprob;
  if (finite !== null && typeof finite !== 'number') {
    return { path: ['logprob'], type: 'float_type', msg: 'Input should be a valid number' };
  }
  const id = /^token_id:(\d{1,9})$/.exec(token);
  if (!id && !isEmpty(bytes) && !isBytes(bytes)) {
    return { path: ['bytes'], type: 'bytes_type', msg: 'Input should be a list of integers from 0 to 255' };
  }
  tokens.push(id ? Number(id[1]) : isBytes(bytes) ? bytes : token);
  logprobs.push(finite);
  return null;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const isBytes = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((byte: unknown) => Number.isInteger(byte) && (byte as number) >= 0 && (byte as number) <= 255);
