// Bytes → lines, by line feeds alone: node:readline also splits at separators that JSON leaves in strings.

/** A last line without a line feed counts; an empty one does not. Lines longer than `bytesMax` are cut to one byte more. */
export async function* splitLines(content: AsyncIterable<Uint8Array>, bytesMax = Infinity): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const keep = (part: Uint8Array) => {
    const kept = part.subarray(0, bytesMax + 1 - length);
    parts.push(kept);
    length += kept.length;
  };
  for await (const chunk of content) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      keep(chunk.subarray(start, end));
      yield Buffer.concat(parts);
      [parts, length] = [[], 0];
      start = end + 1;
    }
    if (start < chunk.length && length <= bytesMax) keep(chunk.slice(start)); // a copy: the stream may reuse its buffer
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
