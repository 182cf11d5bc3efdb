// Small JSON in the blob store with its checksum, for data that is read after a crash: bytes that a disk has changed must not be taken for
// valid data.
import { createHash } from 'node:crypto';

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function sealJson(value: unknown): Uint8Array {
  const text = JSON.stringify(value);
  return Buffer.from(`${digestOf(text)}\n${text}`);
}

/** Returns null if the bytes are not those that were stored. */
export function parseSealedJson<T>(bytes: Uint8Array): { readonly value: T } | null {
  const text = Buffer.from(bytes).toString('utf8');
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  return text.slice(0, end) === digestOf(body) ? { value: JSON.parse(body) as T } : null;
}
