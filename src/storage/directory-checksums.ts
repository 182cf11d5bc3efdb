// The list of checksums that ends a directory of blobs: its name and its form. Who writes it and when is
// blobs/checked-directories.ts.

export const CHECKSUMS = 'checksums.json';

/** SHA-256 in hex, by name of the file. Null: that is no such list. */
export function parseChecksums(text: string): Readonly<Record<string, string>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, string>)
      : null;
  } catch {
    return null;
  }
}
