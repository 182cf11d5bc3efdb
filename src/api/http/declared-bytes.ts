// The number of bytes that a request declares for its body.
import type { IncomingHttpHeaders } from 'node:http';

/** Null if the size is not declared, or is that of compressed bytes. */
export function declaredBytes(headers: IncomingHttpHeaders): number | null {
  const length = headers['content-length'];
  return length === undefined || headers['content-encoding'] !== undefined ? null : Number(length);
}
