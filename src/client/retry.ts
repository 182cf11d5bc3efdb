// When to retry, and how long to wait before: for everything in the client that survives a server's restart.

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 8_000;
const ASKED_PAUSE_MS_MAX = 60_000; // if a server asks for a longer pause, the client still retries after this
const WORTH_ANOTHER_TRY = [408, 409, 425, 429];

/** For transfers: attempts in a row without a new byte. Their pauses of 15 seconds in total are enough for a server to restart. */
export const TRANSFER_ATTEMPTS = 6;

/** Whether a retry would be refused again. Uses `status`, which errors of this client and of the openai package have. */
export function isRefusal(error: unknown): boolean {
  const { status } = (error ?? {}) as { readonly status?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 && !WORTH_ANOTHER_TRY.includes(status);
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
 * Called with the error after each failed attempt, and with null when the server answers again. If it throws, the caller's work
 * ends with that error.
 */
export type OnConnection = (lost: unknown) => void;

/** Retries until it succeeds, is refused, `signal` aborts, or this many attempts have failed. */
export async function insist<T>(
  ask: () => Promise<T>,
  signal: AbortSignal | undefined,
  onConnection: OnConnection = () => {},
  attemptsMax = Infinity,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let answer: T;
    try {
      answer = await ask();
    } catch (error) {
      if (isRefusal(error) || attempt >= attemptsMax) throw error;
      signal?.throwIfAborted();
      onConnection(error);
      await pauseBefore(attempt, error, signal);
      continue;
    }
    if (attempt > 1) onConnection(null);
    return answer;
  }
}
