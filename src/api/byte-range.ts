// Parts of a file by the Range header (RFC 9110, 14.2): one range, of bytes, of the file that If-Range names. Anything else gets the
// whole file, as the RFC lets a server. Knows no store: a part is cut out of the stream of the whole, whose checksum is thereby
// looked at before its last bytes go out.

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

/** Stops reading behind the range. Bytes of the end come when `content` has given all of its own. */
export async function* cut(content: AsyncIterable<Uint8Array>, { first, last }: ByteRange): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of content) {
    const part = chunk.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at));
    at += chunk.length;
    if (part.length > 0) yield part;
    if (at > last) return;
  }
}
