// Small JSON in the blob store with its checksum, for data that is read after a crash: bytes that a disk has changed must not be taken for
// valid data.
import { createHash } from 'node:crypto';

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export const sealText = (text: string): Uint8Array => Buffer.from(`${digestOf(text)}\n${text}`);

/** Returns null if the bytes are not those that were stored. */
export function openSealed(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString('utf8');
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  return text.slice(0, end) === digestOf(body) ? body : null;
}

export const sealJson = (value: unknown): Uint8Array => sealText(JSON.stringify(value));

/** Null as above. */
export function parseSealedJson<T>(bytes: Uint8Array): { readonly value: T } | null {
  const body = openSealed(bytes);
  return body === null ? null : { value: JSON.parse(body) as T };
}
