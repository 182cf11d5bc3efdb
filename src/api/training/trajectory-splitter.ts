// Splits the bytes of a training body, as they arrive, at the boundaries of trajectories. Tracks JSON containers and strings, but does
// not validate: invalid JSON stays in the skeleton, whose parser reports it.
import { DEPTH_MAX } from '#base/json-shape';
import { notJson, tooDeep } from '#validation/json-text';

export const [GROUPS, TRAJECTORIES] = ['trajectory_groups', 'trajectories'];

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const KEY_LENGTH_MAX = 64;

interface Container {
  readonly opening: number;
  /** In an object: the key whose value comes next. */
  key: string;
}

/** Pieces are objects that are elements of the lists above. Non-ASCII bytes occur only in strings, where only quotes and backslashes matter. */
export function createTrajectorySplitter(
  pieceBytesMax: number,
  onSkeleton: (bytes: Uint8Array, offset: number) => void,
  onPiece: (bytes: Buffer, offset: number) => void,
) {
  const open: Container[] = [];
  let inString = false;
  let escaped = false;
  let awaitsKey = false;
  /** Null: not inside a piece. */
  let key: string | null = null;
  /** Number of open containers within the piece; 0: not in a piece. */
  let pieceDepth = 0;
  let pieceParts: Uint8Array[] = [];
  let pieceBytes = 0;
  let pieceOffset = 0;
  let offset = 0;

  const pieceBegins = (): boolean =>
    open.length === 4 &&
    open[0]!.key === GROUPS &&
    open[1]!.opening === OPEN_LIST &&
    open[2]!.key === TRAJECTORIES &&
    open[3]!.opening === OPEN_LIST;

  function readString(byte: number): void {
    if (escaped) escaped = false;
    else if (byte === BACKSLASH) escaped = true;
    else if (byte === QUOTE) {
      inString = false;
      if (key !== null) open.at(-1)!.key = key;
      key = null;
    } else if (key !== null && key.length < KEY_LENGTH_MAX) key += String.fromCharCode(byte);
  }

  function readOutside(byte: number): void {
    if (byte === QUOTE) {
      inString = true;
      if (awaitsKey) key = '';
      awaitsKey = false;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (open.push({ opening: byte, key: '' }) > DEPTH_MAX) throw tooDeep(offset);
      awaitsKey = byte === OPEN_OBJECT;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      open.pop();
      awaitsKey = false;
    } else if (byte === COMMA) awaitsKey = open.at(-1)?.opening === OPEN_OBJECT;
    else if (byte === COLON) awaitsKey = false;
  }

  /** The position where the piece ends, or the length of the chunk. */
  function readPiece(chunk: Uint8Array, from: number): number {
    for (let i = from; i < chunk.length; i++) {
      const byte = chunk[i]!;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        if (++pieceDepth > DEPTH_MAX) throw tooDeep(offset + i);
      } else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --pieceDepth === 0) return i + 1;
    }
    return chunk.length;
  }

  function addToPiece(bytes: Uint8Array): void {
    pieceBytes += bytes.length;
    if (pieceBytes > pieceBytesMax) throw notJson(pieceOffset, `A trajectory of more than ${pieceBytesMax} bytes`);
    pieceParts.push(bytes);
  }

  return {
    write(chunk: Uint8Array): void {
      let start = 0; // start of the bytes that were not passed on yet
      for (let i = 0; i < chunk.length;) {
        if (pieceDepth > 0) {
          i = readPiece(chunk, i);
          addToPiece(chunk.slice(start, i));
          start = i;
          if (pieceDepth > 0) break;
          onPiece(Buffer.concat(pieceParts), pieceOffset);
          [pieceParts, pieceBytes] = [[], 0];
        } else if (!inString && chunk[i] === OPEN_OBJECT && pieceBegins()) {
          onSkeleton(chunk.slice(start, i), offset + start);
          start = i++;
          pieceOffset = offset + start;
          pieceDepth = 1;
        } else {
          if (inString) readString(chunk[i]!);
          else readOutside(chunk[i]!);
          i++;
        }
      }
      if (start < chunk.length) {
        const rest = chunk.slice(start); // a copy, because the socket reuses its buffer
        if (pieceDepth > 0) addToPiece(rest);
        else onSkeleton(rest, offset + start);
      }
      offset += chunk.length;
    },
    /** An incomplete piece belongs to the skeleton. */
    end: () => pieceParts.forEach((part) => onSkeleton(part, pieceOffset)),
  };
}
