// Small JSON in the blob store with its checksum, for what is read after a crash: a disk that gives back other bytes than it
// was given must not look like an answer.
import { createHash } from 'node:crypto';

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function sealJson(value: unknown): Uint8Array {
  const text = JSON.stringify(value);
  return Buffer.from(`${digestOf(text)}\n${text}`);
}

/** Null: these are not the bytes that were stored. */
export function parseSealedJson<T>(bytes: Uint8Array): { readonly value: T } | null {
  const text = Buffer.from(bytes).toString('utf8');
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  return text.slice(0, end) === digestOf(body) ? { value: JSON.parse(body) as T } : null;
}
