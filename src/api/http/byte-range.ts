// Parts of a file by the Range header (RFC 9110, 14.2): one byte range of the file that If-Range names. Any other request gets the
// whole file, as the RFC allows. Knows no store: the caller opens the file at the start of the range. The ETag of a file is its
// SHA-256, so that a client that joins parts can verify the whole.

export interface ByteRange {
  readonly first: number;
  /** Inclusive. */
  readonly last: number;
}

/** Null: the whole file. `beyond`: the range starts after the end of the file. */
export function readRange(
  headers: { readonly range?: string | undefined; readonly 'if-range'?: unknown },
  size: number,
  etag: string,
): ByteRange | 'beyond' | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(headers.range?.trim() ?? '') ?? [];
  if (from === '' && to === '') return null;
  if (headers['if-range'] !== undefined && headers['if-range'] !== etag) return null;
  if (from === '')
    return Number(to) === 0 || size === 0 ? 'beyond' : { first: Math.max(0, size - Number(to)), last: size - 1 };
  if (to !== '' && Number(to) < Number(from)) return null; // not a range
  if (Number(from) >= size) return 'beyond';
  return { first: Number(from), last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

/** Yields only this many of the first bytes, then stops reading. */
export async function* beginning(content: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of content) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}
