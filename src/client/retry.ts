// When to retry, and how long to wait before: for everything in the client that survives a server's restart.

import { AnswerError } from './answers.ts';

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 8_000;
const ASKED_PAUSE_MS_MAX = 60_000; // if a server asks for a longer pause, the client still retries after this
const WORTH_ANOTHER_TRY = [408, 409, 425, 429];

/**
 * How many attempts of a transfer may fail: of a pull in a row without a new byte, of a push per file, which is sent from its first
 * byte each time. Without `retry-after` they pause for 15 seconds in total, which is enough for a server to restart.
 */
export const TRANSFER_ATTEMPTS = 6;

/** Whether a retry would be refused again. Uses `status`, which errors of this client and of the openai package have. */
export const isRefusal = refusedUnless(WORTH_ANOTHER_TRY);

/** Whether a push ends with this error. Unlike elsewhere, 409 and 429 do: the name is taken, or the quota is full. */
const isRefusedPush = refusedUnless([408]);

function refusedUnless(retried: readonly number[]) {
  return (error: unknown): boolean => {
    if (error instanceof AnswerError) return true;
    const { status, code } = (error ?? {}) as { readonly status?: unknown; readonly code?: unknown };
    if (code === 'damaged_data') return true; // a retry would read the same bytes
    if (code === 'redirect') return true;
    return typeof status === 'number' && status >= 400 && status < 500 && !retried.includes(status);
  };
}

/** The pause doubles with each attempt; the server's `retry-after` takes precedence. Rejects when `signal` aborts. */
export async function pauseBefore(attempt: number, error: unknown, signal: AbortSignal | undefined): Promise<void> {
  const { retryAfterMs = null } = (error ?? {}) as { readonly retryAfterMs?: number | null };
  const ownMs = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** Math.max(0, attempt - 1));
  await pause(retryAfterMs === null ? ownMs : Math.min(retryAfterMs, ASKED_PAUSE_MS_MAX), signal);
}

export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

/**
 * Called with the error after each failed attempt, and with null when a retry succeeds. If it throws, the caller's work ends with
 * that error.
 */
export type OnConnection = (lost: unknown) => void;

/** Reports that the connection is back. Closes `opened` if that throws. */
export async function reportReopened(opened: ReadableStream<Uint8Array>, onConnection: OnConnection): Promise<void> {
  try {
    onConnection(null);
  } catch (error) {
    await opened.cancel();
    throw error;
  }
}

interface Persistence {
  readonly attemptsMax?: number;
  /** Whether no retry follows this error. */
  readonly isFinal?: (error: unknown) => boolean;
}

/** For the files of a push, and for its commit. */
export const PUSH: Persistence = { attemptsMax: TRANSFER_ATTEMPTS, isFinal: isRefusedPush };

/**
 * For a short request that may be sent again: through a restart of the server or while it has no room, not through a refusal. A failed
 * fetch has a cause; a TypeError without one is a mistake of the caller's.
 */
export const SHORT: Persistence = { attemptsMax: TRANSFER_ATTEMPTS, isFinal: (error) => !isOutage(error) };

function isOutage(error: unknown): boolean {
  const { status } = (error ?? {}) as { readonly status?: unknown };
  if (typeof status === 'number') return status >= 500 || (status !== 409 && WORTH_ANOTHER_TRY.includes(status));
  return error instanceof TypeError && error.cause !== undefined;
}

/** Retries until it succeeds, fails with a final error or `attemptsMax` times, or `signal` aborts. */
export async function insist<T>(
  ask: () => Promise<T>,
  signal: AbortSignal | undefined,
  onConnection: OnConnection = () => {},
  { attemptsMax = Infinity, isFinal = isRefusal }: Persistence = {},
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let answer: T;
    try {
      answer = await ask();
    } catch (error) {
      if (isFinal(error)) throw error;
      signal?.throwIfAborted();
      if (attempt >= attemptsMax) throw error;
      onConnection(error);
      await pauseBefore(attempt, error, signal);
      continue;
    }
    if (attempt > 1) onConnection(null);
    return answer;
  }
}
