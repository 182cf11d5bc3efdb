// Reduces an error for the log of a server that must not log client data: kinds, codes and source locations of the error and its
// causes, but no messages, which may quote the request.

export interface ErrorWithoutWords {
  readonly name: string;
  readonly code: string | null;
  /** Innermost first. */
  readonly at: readonly string[];
  readonly cause: ErrorWithoutWords | null;
}

const FRAMES_MAX = 4;
const CAUSES_MAX = 4;

/** Null if the value is not an error. */
export function withoutWords(error: unknown, causesMax = CAUSES_MAX): ErrorWithoutWords | null {
  if (!(error instanceof Error)) return null;
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    code: typeof code === 'string' ? code : null,
    at: framesOf(error),
    cause: causesMax > 0 ? withoutWords(error.cause, causesMax - 1) : null,
  };
}

/** The part after the message, because a message could look like stack frames. */
function framesOf({ stack = '', message }: Error): string[] {
  const start = stack.indexOf(message);
  if (start === -1) return [];
  const frames = stack.slice(start + message.length).match(/^ {4}at .*$/gm) ?? [];
  return frames.slice(0, FRAMES_MAX).map((frame) => frame.trim());
}
