// An answer in the form of OpenAI's Responses that is kept, so that it can be read again, and a conversation can go on with it. One
// that was asked for in the background is queued first. What was said is a blob; this is its row.

/** The states and their order. Those that are not asked for in the background are kept when they have ended. */
export const NEXT_RESPONSE_STATUS = {
  queued: ['in_progress', 'cancelled'],
  in_progress: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'], // its server stopped; or died, and another went on
  completed: [],
  incomplete: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type ResponseStatus = keyof typeof NEXT_RESPONSE_STATUS;

export const isAnswered = (status: ResponseStatus): boolean => NEXT_RESPONSE_STATUS[status].length === 0;

export interface StoredResponse {
  /** As clients know it. */
  readonly id: string;
  readonly entity: string;
  /** Who asked. */
  readonly keyId: string;
  /** For the accounts; empty: none was named. */
  readonly project: string;
  /** That answers it. */
  readonly baseModel: string;
  readonly status: ResponseStatus;
  readonly attempt: number;
  /** What is known of it by now: the request, then the answer. */
  readonly blob: string;
  /** Of one that failed and has no answer that says so. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
}
