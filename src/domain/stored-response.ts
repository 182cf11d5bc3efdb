// A stored answer of OpenAI's Responses API, which can be read again and continued. Responses requested in the background are queued
// first. The content is a blob; this is its row.

/** The states and the allowed transitions. Responses that do not run in the background are stored once they have ended. */
export const NEXT_RESPONSE_STATUS = {
  queued: ['in_progress', 'cancelled'],
  in_progress: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'], // queued: its server stopped; in_progress: its server died and another took over
  completed: [],
  incomplete: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type ResponseStatus = keyof typeof NEXT_RESPONSE_STATUS;

export const isAnswered = (status: ResponseStatus): boolean => NEXT_RESPONSE_STATUS[status].length === 0;

export interface StoredResponse {
  /** The id that clients see. */
  readonly id: string;
  readonly entity: string;
  /** The key that sent the request. */
  readonly keyId: string;
  /** For usage accounts; empty if the request named none. */
  readonly project: string;
  /** The model that answers. */
  readonly baseModel: string;
  readonly status: ResponseStatus;
  readonly attempt: number;
  /** The blob with the current state: first the request, later the answer. */
  readonly blob: string;
  /** Why it failed, if no stored answer says so. */
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
}
