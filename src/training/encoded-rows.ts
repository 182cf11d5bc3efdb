// Token sequences of a data set's rows as bytes, one row after the other, so that they can be kept in a file: a data set may be larger
// than memory. Defines the format only. The bytes live as long as a job's attempt and never leave the machine, so numbers have its
// byte order.
import { trainedCount } from './token-sequence.ts';
import type { TokenSequence } from './token-sequence.ts';

export interface EncodedRow {
  readonly tokens: number;
  /** Number of those with labels. */
  readonly trainedTokens: number;
  /** Offset of the next row. */
  readonly end: number;
  /** Without log-probabilities, because nothing was sampled. Empty: the row is not trained. */
  sequences(): TokenSequence[];
}

export interface EncodedRows {
  /** `from`: 0, or the end of a row. */
  read(from: number): AsyncIterable<EncodedRow>;
}

/** Bytes after the header, tokens, trained tokens, sequences. */
const HEAD_NUMBERS = 4;
const HEAD_BYTES = HEAD_NUMBERS * Uint32Array.BYTES_PER_ELEMENT;

export function encodeRow(sequences: readonly TokenSequence[]): Uint8Array {
  const tokens = sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0);
  const trained = sequences.reduce((sum, sequence) => sum + trainedCount(sequence), 0);
  const bytes = sequences.length * 4 + tokens * 5;
  const parts: ArrayBufferView[] = [Uint32Array.of(bytes, tokens, trained, sequences.length)];
  for (const sequence of sequences)
    parts.push(Uint32Array.of(sequence.tokens.length), sequence.tokens, sequence.trained);
  return Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
}

/** `from`: the offset of the first byte. */
export async function* decodeRows(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  from: number,
): AsyncGenerator<EncodedRow> {
  let parts: Uint8Array[] = [];
  let carried = 0;
  let needed = HEAD_BYTES;
  let end = from;
  for await (const chunk of content) {
    parts.push(chunk);
    carried += chunk.length;
    if (carried < needed) continue;
    let rest: Uint8Array = parts.length === 1 ? chunk : Buffer.concat(parts);
    for (needed = HEAD_BYTES; rest.length >= needed; needed = HEAD_BYTES) {
      const [bytes, tokens, trainedTokens, count] = numbersIn(rest, 0, HEAD_NUMBERS);
      needed += bytes!;
      if (rest.length < needed) break;
      const body = rest.subarray(HEAD_BYTES, needed);
      end += needed;
      yield { tokens: tokens!, trainedTokens: trainedTokens!, end, sequences: () => decodeSequences(body, count!) };
      rest = rest.subarray(needed);
    }
    parts = [rest];
    carried = rest.length;
  }
}

function decodeSequences(body: Uint8Array, count: number): TokenSequence[] {
  let at = 0;
  return Array.from({ length: count }, () => {
    const [length] = numbersIn(body, at, 1);
    const tokens = new Int32Array(copyOf(body, at + 4, length! * 4).buffer);
    const trained = copyOf(body, at + 4 + tokens.byteLength, length!);
    at += 4 + tokens.byteLength + trained.byteLength;
    return { tokens, trained, logprobs: new Float32Array(length!).fill(NaN) };
  });
}

const numbersIn = (bytes: Uint8Array, at: number, count: number): Uint32Array =>
  new Uint32Array(copyOf(bytes, at, count * 4).buffer);

/** Copied into a buffer that begins with it. */
function copyOf(bytes: Uint8Array, at: number, length: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(length);
  copy.set(bytes.subarray(at, at + length));
  return copy;
}
