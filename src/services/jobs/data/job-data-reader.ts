// Where a job's data is read: small data in this process, at once; large data in a separate process, which may die without this one
// and leaves this one free to answer requests.
import type { ConversationEncoder } from '#training/conversation-encoder';
import { readJobData, type DataCalls, type DataKind } from './read-job-data.ts';

/** Throws what reading throws; `engine_unavailable` if something else ended the process, `cancelled`. */
export type ReadData = <K extends DataKind>(
  kind: K,
  call: DataCalls[K]['call'],
  content: AsyncIterable<Uint8Array>,
  put: (piece: DataCalls[K]['piece']) => Promise<void>,
  signal: AbortSignal,
) => Promise<DataCalls[K]['result']>;

/** A prompt of this length is rendered in a few hundredths of a second; a job renders it again for each turn. */
const SHORT_BYTES = 32_768;

/** `elsewhere` null: there is no such process, and everything is read here. */
export function createJobDataReader(encoder: ConversationEncoder, elsewhere: ReadData | null): ReadData {
  return async (kind, call, content, put, signal) => {
    const iterator = content[Symbol.asyncIterator]();
    try {
      const { begun, isWhole } = await readBeginning(iterator);
      if (isWhole || !elsewhere) return await readJobData[kind](call, chain(begun, iterator), encoder, put);
      return await elsewhere(kind, call, chain(begun, iterator), put, signal);
    } finally {
      await iterator.return?.(); // also if nothing was read from it: a file is open
    }
  };
}

async function readBeginning(content: AsyncIterator<Uint8Array>): Promise<{ begun: Uint8Array[]; isWhole: boolean }> {
  const begun: Uint8Array[] = [];
  for (let length = 0; length < SHORT_BYTES;) {
    const next = await content.next();
    if (next.done) return { begun, isWhole: true };
    begun.push(Uint8Array.from(next.value)); // a copy: the stream may reuse its buffer
    length += next.value.length;
  }
  return { begun, isWhole: false };
}

async function* chain(begun: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* begun;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
