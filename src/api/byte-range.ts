// Parts of a file by the Range header (RFC 9110, 14.2): one range, of bytes, of the file that If-Range names. Anything else gets the
// whole file, as the RFC lets a server. Knows no store: whoever opens a file begins where the range does. The tag of a file is its
// SHA-256, so that who puts parts together can check the whole.

export interface ByteRange {
  readonly first: number;
  /** It is included. */
  readonly last: number;
}

/** Null: the whole file. `beyond`: it starts where no byte is. */
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

/** So many of its first bytes. Stops reading behind them. */
export async function* beginning(content: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of content) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}
