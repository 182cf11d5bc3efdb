// What a worker says, which is somebody's program: a message of the protocol (docs/worker-protocol.md, section 2), or the fault in
// it. What the payload of an event or the value of a return may be, only who made the call knows.
import type { ErrorCode } from '#domain/errors';
import type { ToClient, WireError } from '../rpc/rpc-messages.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Those that a worker may have. Any other, such as one that speaks of the client's key, is taken for a fault of the worker. */
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

/** Or what it is instead, which reads on from "The worker sent …". */
export function readWorkerMessage(value: unknown): ToClient | string {
  if (!isMap(value)) return 'a message that is no map';
  const message = value as unknown as ToClient;
  switch (value['kind']) {
    case 'events':
      return isEvents(value['events']) ? message : 'events that are no list of { id, payload }';
    case 'return':
      return isCount(value['id']) ? message : 'a return without the id of its call';
    case 'throw':
      if (!isCount(value['id'])) return 'a throw without the id of its call';
      return { kind: 'throw', id: value['id'], error: readError(value['error']) };
    case 'notice':
      return typeof value['name'] === 'string' ? message : 'a notice without a name';
    default:
      return `a message of the kind ${JSON.stringify(value['kind'])?.slice(0, 40) ?? 'undefined'}, which there is not`;
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
