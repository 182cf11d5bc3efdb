// Size and digests of a stream of bytes, which it reads to the end.
import { createHash } from 'node:crypto';

export interface Digests {
  readonly sizeBytes: number;
  /** Both in hex. */
  readonly sha256: string;
  readonly md5: string;
}

/** Computes them while another consumer reads the chunks. */
export function createDigests() {
  const [sha256, md5] = [createHash('sha256'), createHash('md5')];
  let sizeBytes = 0;
  return {
    add(chunk: Uint8Array): void {
      sha256.update(chunk);
      md5.update(chunk);
      sizeBytes += chunk.length;
    },
    end: (): Digests => ({ sizeBytes, sha256: sha256.digest('hex'), md5: md5.digest('hex') }),
  };
}

export async function digestOf(content: AsyncIterable<Uint8Array>): Promise<Digests> {
  const digests = createDigests();
  for await (const chunk of content) digests.add(chunk);
  return digests.end();
}
