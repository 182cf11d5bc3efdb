// Reads a stored blob of groups (stored-groups.ts) trajectory by trajectory, for people to look at, and parses only those that are asked
// for. A group may have hundreds of megabytes, so its line is never whole in memory, and other requests are answered between any two
// pieces. Training verifies the checksum of the whole blob; here only returned pieces are validated.
import { createYielder } from '#base/yield-to-loop';
import { AppError } from '#domain/errors';

export type StoredPiece =
  | { readonly kind: 'head'; readonly bytes: Buffer }
  | { readonly kind: 'trajectory'; readonly group: number; readonly index: number; readonly bytes: Buffer }
  /** Comes after its trajectories: their number, and the group's other fields. */
  | { readonly kind: 'group'; readonly group: number; readonly count: number; readonly bytes: Buffer }
  | { readonly kind: 'end'; readonly groups: number };

export interface Wanted {
  readonly group: (group: number) => boolean;
  /** A trajectory of a wanted group. */
  readonly trajectory: (index: number) => boolean;
}

const BEGINNING = Buffer.from('{"trajectories":[');
const [NEW_LINE, QUOTE, BACKSLASH, COMMA] = [0x0a, 0x22, 0x5c, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** `name`: the blob's name in error messages. Throws `damaged_data`. Closes the stream when the loop is left. */
export async function* readStoredPieces(
  content: AsyncIterable<Uint8Array>,
  name: string,
  wanted: Wanted,
): AsyncGenerator<StoredPiece> {
  const damaged = () => new AppError('damaged_data', `The data ${name} is damaged: the stored bytes have changed.`);
  const yieldToLoop = createYielder();
  let place: 'head' | 'beginning' | 'skip' | 'between' | 'trajectory' | 'rest' | 'end' = 'head';
  let [group, count] = [0, 0];
  let parts: Buffer[] = [];
  const keep = (part: Uint8Array) => void parts.push(Buffer.from(part)); // a copy: the stream may reuse its buffer
  const taken = (): Buffer => {
    const bytes = Buffer.concat(parts);
    parts = [];
    return bytes;
  };
  let objectEnd = createObjectEnd();

  for await (const chunk of content) {
    for (let at = 0; at < chunk.length && place !== 'end';) {
      await yieldToLoop();
      const newLine = place === 'head' || place === 'skip' || place === 'rest' ? chunk.indexOf(NEW_LINE, at) : -1;
      const lineEnd = newLine < 0 ? chunk.length : newLine;
      const next = newLine < 0 ? chunk.length : newLine + 1;
      switch (place) {
        case 'head':
          keep(chunk.subarray(at, lineEnd));
          if (newLine >= 0) {
            yield { kind: 'head', bytes: taken() };
            place = 'beginning';
          }
          at = next;
          break;
        case 'beginning': {
          const missing = BEGINNING.length - parts.reduce((sum, part) => sum + part.length, 0);
          keep(chunk.subarray(at, at + missing));
          at = Math.min(chunk.length, at + missing);
          if (parts.reduce((sum, part) => sum + part.length, 0) < BEGINNING.length) break;
          // A line that is not a group is the checksum, and the end.
          place = !taken().equals(BEGINNING) ? 'end' : wanted.group(group) ? 'between' : 'skip';
          break;
        }
        case 'skip':
          if (newLine >= 0) [place, group] = ['beginning', group + 1];
          at = next;
          break;
        case 'between': {
          const byte = chunk[at];
          if (byte === OPEN_OBJECT) [place, objectEnd] = ['trajectory', createObjectEnd()];
          else {
            if (byte !== COMMA && byte !== CLOSE_LIST) throw damaged();
            if (byte === CLOSE_LIST) place = 'rest';
            at++;
          }
          break;
        }
        case 'trajectory': {
          const end = objectEnd(chunk, at);
          const isWanted = wanted.trajectory(count);
          if (isWanted) keep(chunk.subarray(at, end ?? chunk.length));
          at = end ?? chunk.length;
          if (end === null) break;
          if (isWanted) yield { kind: 'trajectory', group, index: count, bytes: taken() };
          [place, count] = ['between', count + 1];
          break;
        }
        case 'rest':
          keep(chunk.subarray(at, lineEnd));
          if (newLine >= 0) {
            yield { kind: 'group', group, count, bytes: Buffer.from(`{${taken().toString('utf8').replace(/^,/, '')}`) };
            [place, group, count] = ['beginning', group + 1, 0];
          }
          at = next;
          break;
      }
    }
    if (place === 'end') {
      yield { kind: 'end', groups: group };
      return;
    }
  }
  throw damaged();
}

/** Parses a piece. Throws `damaged_data`. */
export function parsePiece<T>(bytes: Buffer, name: string): T {
  try {
    return JSON.parse(bytes.toString('utf8')) as T;
  } catch (cause) {
    throw new AppError('damaged_data', `The data ${name} is damaged: the stored bytes have changed.`, {
      cause,
    });
  }
}

/** The offset after the end of the object that started earlier; null: it does not end in this chunk. */
function createObjectEnd(): (chunk: Uint8Array, from: number) => number | null {
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  return (chunk, from) => {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --depth === 0) return at + 1;
    }
    return null;
  };
}
