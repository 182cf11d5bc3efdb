// Bytes → lines, by line feeds alone: node:readline also splits at separators that JSON leaves in strings.

/** A last line without a line feed counts; an empty one does not. */
export async function* splitLines(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  for await (const chunk of content) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.slice(start)); // a copy: the stream may reuse its buffer
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
