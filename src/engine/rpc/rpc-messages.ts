// The messages between a server process and its engine children: calls with streams of events, as plain data that
// structured clone can carry. Types, and the conversion of errors in both directions.
import { AppError, type ErrorCode } from '#domain/errors';

/** `event` streams from the callee while the call runs, `control` from the caller. */
export interface Procedure {
  params: unknown;
  result: unknown;
  event?: unknown;
  control?: unknown;
}

/** The procedures that can be called, by name: `P extends Procedures<P>`. */
export type Procedures<P> = { [M in keyof P]: Procedure };

/** The remote call on whose behalf this call is made. Our caller passes the events on without reading them. */
export interface FarCall {
  /** Calls of one session share one numbering. */
  readonly session: string;
  readonly id: number;
}

export type ToServer =
  | { kind: 'call'; id: number; method: string; params: unknown; far?: FarCall }
  /** For a call in progress. */
  | { kind: 'tell'; id: number; payload: unknown }
  /** The caller no longer wants the result. */
  | { kind: 'abort'; id: number };

export type ToClient =
  /** Events of any number of calls, in order: one message per engine step. */
  | { kind: 'events'; events: readonly { id: number; payload: unknown }[] }
  /** The same for remote calls of one session, as the encoded message that the remote caller receives. `id` is one of our own calls. */
  | { kind: 'far_events'; id: number; bytes: Uint8Array }
  | { kind: 'return'; id: number; value: unknown }
  | { kind: 'throw'; id: number; error: WireError }
  /** Belongs to no call: log lines, status, last words. */
  | { kind: 'notice'; name: string; payload: unknown };

/** Two ends of a channel that keeps order and drops nothing while it is open. */
export interface Port<Outgoing, Incoming> {
  readonly send: (message: Outgoing) => void;
  readonly receive: (handler: (message: Incoming) => void) => void;
}

/** Backpressure of the transport: how much may be in transit. */
export interface Room {
  /** Too much is unacknowledged: a sender that can wait should. */
  readonly isFull: boolean;
  /** Resolves when there is room. */
  readonly whenRoom: () => Promise<void>;
}

export interface WireError {
  /** Null: the error was not an AppError but a bug. */
  readonly code: ErrorCode | null;
  readonly message: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** For the log. */
  readonly detail: string | null;
}

export function toWireError(error: unknown): WireError {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof AppError)) {
    const detail = error instanceof Error ? (error.stack ?? null) : null;
    return { code: null, message, param: null, retryAfterSeconds: null, detail };
  }
  const { code, param, retryAfterSeconds, cause } = error;
  const detail =
    cause instanceof Error ? (cause.stack ?? cause.message) : cause === undefined ? null : JSON.stringify(cause);
  return { code, message, param, retryAfterSeconds, detail };
}

export function fromWireError({ code, message, param, retryAfterSeconds, detail }: WireError): Error {
  const cause = detail === null ? {} : { cause: new Error(detail) };
  if (code === null)
    return new AppError('engine_failed', 'The engine failed.', { cause: new Error(detail ?? message) });
  return new AppError(code, message, {
    ...cause,
    ...(param === null ? {} : { param }),
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  });
}
