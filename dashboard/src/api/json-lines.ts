// Reads responses of one JSON value per line, some rows at a time, so that a table can grow while thousands more arrive.
import { chunksOf } from '../../../src/client/chunks.ts';

/** Yields batches of the rows that have arrived. Throws the stream's error if the connection breaks. */
export async function* readJsonLines<Row>(body: ReadableStream<Uint8Array>): AsyncGenerator<Row[]> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of chunksOf(body)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop()!;
    if (lines.length > 0) yield lines.map((line) => JSON.parse(line) as Row);
  }
  rest += decoder.decode();
  if (rest !== '') yield [JSON.parse(rest) as Row];
}
