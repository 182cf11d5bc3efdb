// Reads portions of known length from a stream of bytes.

export interface ByteReader {
  /** Null: fewer bytes are left. */
  take(length: number): Promise<Buffer | null>;
  /** False: fewer bytes were left. */
  skip(length: number): Promise<boolean>;
  close(): Promise<void>;
}

export function createByteReader(content: AsyncIterable<Uint8Array>): ByteReader {
  const chunks = content[Symbol.asyncIterator]();
  let chunk: Uint8Array = new Uint8Array(0);

  /** Parts that together have the length; the stream may reuse their memory for the next chunk. */
  async function* parts(length: number): AsyncGenerator<Uint8Array> {
    for (let missing = length; missing > 0;) {
      if (chunk.length === 0) {
        const next = await chunks.next();
        if (next.done) return;
        chunk = next.value;
      }
      const part = chunk.subarray(0, missing);
      chunk = chunk.subarray(part.length);
      missing -= part.length;
      yield part;
    }
  }

  return {
    async take(length) {
      const taken: Buffer[] = [];
      for await (const part of parts(length)) taken.push(Buffer.from(part));
      const bytes = Buffer.concat(taken);
      return bytes.length === length ? bytes : null;
    },
    async skip(length) {
      let skipped = 0;
      for await (const part of parts(length)) skipped += part.length;
      return skipped === length;
    },
    close: async () => void (await chunks.return?.()),
  };
}
