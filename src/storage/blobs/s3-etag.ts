// ETags as checksums. Stores use an object's MD5 as its ETag, or for multipart uploads the MD5 of the parts' MD5s. With a
// customer's encryption key, or in other stores, an ETag is only a name; s3-objects.ts detects which case applies.
import { createHash } from 'node:crypto';

/** Part size of uploads. The ETags of objects with other part sizes cannot be checked here. */
export const PART_BYTES = 5 * 1024 * 1024;

export type EtagKind = 'whole' | 'parts';

export interface EtagDigest {
  readonly kind: EtagKind;
  update(chunk: Uint8Array): void;
  /** Call once, at the end: returns the ETag of the bytes received. */
  read(): string;
  readonly expected: string;
}

/** Null: this ETag cannot be a checksum. */
export function createEtagDigest(etag: string | undefined): EtagDigest | null {
  const match = /^"?([0-9a-f]{32})(-\d+)?"?$/.exec(etag ?? '');
  if (!match) return null;
  const [, sum, parts = ''] = match;
  return parts === '' ? digestOfWhole(sum!) : digestOfParts(`${sum}${parts}`);
}

function digestOfWhole(expected: string): EtagDigest {
  const hash = createHash('md5');
  return {
    kind: 'whole',
    expected,
    update: (chunk) => void hash.update(chunk),
    read: () => hash.digest('hex'),
  };
}

function digestOfParts(expected: string): EtagDigest {
  const sums: Buffer[] = [];
  let hash = createHash('md5');
  let inPart = 0;
  function endPart(): void {
    sums.push(hash.digest());
    hash = createHash('md5');
    inPart = 0;
  }
  return {
    kind: 'parts',
    expected,
    update(chunk) {
      for (let rest = chunk; rest.length > 0;) {
        const piece = rest.subarray(0, PART_BYTES - inPart);
        hash.update(piece);
        inPart += piece.length;
        if (inPart === PART_BYTES) endPart();
        rest = rest.subarray(piece.length);
      }
    },
    read() {
      if (inPart > 0) endPart();
      return `${createHash('md5').update(Buffer.concat(sums)).digest('hex')}-${sums.length}`;
    },
  };
}
