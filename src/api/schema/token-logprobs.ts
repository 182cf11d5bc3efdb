// The `logprobs` of a Choice: nearly all of a training body. Read by hand in one pass into two lists, either by the schema or,
// while the body still arrives, ahead of it.
import { z } from 'zod';
import { NOT_FINITE } from './lax.ts';

export class PackedLogprobs {
  /** Ids, or texts where there are no ids. */
  readonly tokens: (number | string)[] = [];
  /** Nats; null where it was not finite. */
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
        properties: { token: { type: 'string', description: '`token_id:N`, or the text of the token' }, logprob: { type: ['number', 'null'] } },
        required: ['token', 'logprob'],
      },
    },
    refusal: { type: ['array', 'null'] },
  },
} as const; // prettier-ignore

/** Null: the turn carries none. */
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

/** In place, in every history of a trajectory as it came; what cannot be read stays for the schema to complain about. */
export function packLogprobs(trajectory: unknown): void {
  for (const history of [trajectory, ...listIn(trajectory, 'additional_histories')]) {
    for (const turn of listIn(history, 'messages_and_choices')) {
      if (typeof turn !== 'object' || turn === null || !('logprobs' in turn)) continue;
      const read = readLogprobs(turn.logprobs);
      if (read instanceof PackedLogprobs) turn.logprobs = read;
    }
  }
}

function listIn(value: unknown, key: string): unknown[] {
  const list = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : null;
  return Array.isArray(list) ? list : [];
}

/** `refusal` holds the tokens when the content is empty. */
function readLogprobs(value: unknown): PackedLogprobs | Fault | null {
  if (value === undefined || value === null || value instanceof PackedLogprobs) return value ?? null;
  if (typeof value !== 'object' || Array.isArray(value)) {
    return { path: [], type: 'dict_type', msg: 'Input should be a valid dictionary' };
  }
  const { content, refusal } = value as { content?: unknown; refusal?: unknown };
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
  if (typeof item !== 'object' || item === null) {
    return { path: [], type: 'dict_type', msg: 'Input should be a valid dictionary' };
  }
  const { token, logprob } = item as { token?: unknown; logprob?: unknown };
  if (typeof token !== 'string') return { path: ['token'], type: 'string_type', msg: 'Input should be a valid string' };
  if (logprob === undefined) return { path: ['logprob'], type: 'missing', msg: 'Field required' };
  const finite = logprob === null || NOT_FINITE.has(logprob) ? null : logprob;
  if (finite !== null && typeof finite !== 'number') {
    return { path: ['logprob'], type: 'float_type', msg: 'Input should be a valid number' };
  }
  const id = /^token_id:(\d{1,9})$/.exec(token);
  tokens.push(id ? Number(id[1]) : token);
  logprobs.push(finite);
  return null;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
