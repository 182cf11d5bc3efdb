// How many bytes a request says that it brings.
import type { IncomingHttpHeaders } from 'node:http';

/** Null where it is not told, or told of compressed bytes. */
export function declaredBytes(headers: IncomingHttpHeaders): number | null {
  const length = headers['content-length'];
  return length === undefined || headers['content-encoding'] !== undefined ? null : Number(length);
}
