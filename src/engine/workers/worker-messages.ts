// Validates what a worker sends, because a worker may be any program: returns a message of the protocol (docs/worker-protocol.md,
// section 2) or describes the error. The caller of a procedure validates its events and return value.
import type { ErrorCode } from '#domain/errors';
import type { ToClient, WireError } from '../rpc/rpc-messages.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Error codes that a worker may send. Any other, such as one about the client's key, counts as a failure of the worker. */
const CODES: ReadonlySet<unknown> = new Set<ErrorCode>([
  'cancelled',
  'invalid_request',
  'context_length_exceeded',
  'invalid_constraint',
  'dead_end',
  'too_many_requests',
  'engine_unavailable',
  'engine_failed',
  'storage_unavailable',
  'bad_model_files',
]);

/** Returns the message, or what was sent instead, which continues "The worker sent …". */
export function readWorkerMessage(value: unknown): ToClient | string {
  if (!isMap(value)) return 'a message that is not a map';
  const message = value as unknown as ToClient;
  switch (value['kind']) {
    case 'events':
      return isEvents(value['events']) ? message : 'events that are not a list of { id, payload }';
    case 'return':
      return isCount(value['id']) ? message : 'a return without the id of its call';
    case 'throw':
      if (!isCount(value['id'])) return 'a throw without the id of its call';
      return { kind: 'throw', id: value['id'], error: readError(value['error']) };
    case 'notice':
      return typeof value['name'] === 'string' ? message : 'a notice without a name';
    default:
      return `a message of the unknown kind ${JSON.stringify(value['kind'])?.slice(0, 40) ?? 'undefined'}`;
  }
}

function readError(error: unknown): WireError {
  const { code, message, param, retryAfterSeconds, detail } = isMap(error) ? error : ({} as Fields);
  const text = (given: unknown) => (typeof given === 'string' ? given : null);
  return {
    code: CODES.has(code) ? (code as ErrorCode) : null,
    message: text(message) ?? 'The worker gave no reason.',
    param: text(param),
    retryAfterSeconds: isCount(retryAfterSeconds) ? retryAfterSeconds : null,
    detail: text(detail),
  };
}

const isMap = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isEvents = (value: unknown): boolean =>
  Array.isArray(value) && value.every((event: unknown) => isMap(event) && isCount(event['id']));
