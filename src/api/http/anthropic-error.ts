// Errors in the format of Anthropic's API, on the routes compatible with it. Messages, and our own `code` and `param`, are
// those of every other route.
/** The fields that all error formats have in common. */
interface Told {
  readonly message: string;
  readonly code: string | null;
  readonly param: string | null;
}

export interface AnthropicErrorBody {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly code: string | null;
    readonly param: string | null;
    readonly details?: { readonly error_code: string };
  };
  readonly request_id: string;
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
};

/** Codes that Anthropic's clients look for in `details`, and act on. */
const TOLD_IN_DETAILS: ReadonlySet<string | null> = new Set(['thread_unsupported_request']);

/** Invalid requests are a 400 there, like requests that cannot be processed. */
export function anthropicError(
  { status, body }: { readonly status: number; readonly body: { readonly error: Told } },
  requestId: string,
): { readonly status: number; readonly body: AnthropicErrorBody } {
  const shownStatus = status === 422 ? 400 : status;
  const type = TYPES[shownStatus] ?? (shownStatus >= 500 ? 'api_error' : 'invalid_request_error');
  const { message, code, param } = body.error;
  const details = code !== null && TOLD_IN_DETAILS.has(code) ? { details: { error_code: code } } : {};
  return {
    status: shownStatus,
    body: { type: 'error', error: { type, message, code, param, ...details }, request_id: requestId },
  };
}
