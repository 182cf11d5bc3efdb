// What a stream of bytes amounts to. Reads all of it.
import { createHash } from 'node:crypto';

export async function digestOf(content: AsyncIterable<Uint8Array>): Promise<{ sizeBytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}
