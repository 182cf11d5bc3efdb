// Bodies with trajectories, parsed while they arrive: each element of `trajectory_groups[].trajectories[]` becomes a value as
// soon as it is whole, its logprobs packed tightly, and its text is forgotten. A body of hundreds of megabytes is never in
// memory as text, and parsing it never blocks the server for longer than one trajectory takes.
import { randomUUID } from 'node:crypto';
import { DEPTH_MAX, parseJson, tooDeep } from './json-body.ts';
import { packLogprobs } from './schema/token-logprobs.ts';
import { ValidationError } from './schema/validation.ts';

const [GROUPS, TRAJECTORIES] = ['trajectory_groups', 'trajectories'];

export interface BodyParser {
  write(chunk: Uint8Array): void;
  /** The whole body as a value. Throws ValidationError as parseJson does. */
  end(): unknown;
}

export function createTrainingBodyParser(): BodyParser {
  const pieces: unknown[] = [];
  /** Stands in the skeleton for a piece; nobody can guess it. */
  const placeholder = randomUUID();
  const skeleton: Uint8Array[] = [];
  let fault: Error | null = null;

  const splitter = createSplitter(
    (bytes) => void skeleton.push(bytes),
    (bytes, offset) => {
      skeleton.push(Buffer.from(`"${placeholder}${pieces.length}"`));
      try {
        const value = parseJson(bytes.toString('utf8'), 'inexact integers');
        packLogprobs(value);
        pieces.push(value);
      } catch (error) {
        if (!(error instanceof ValidationError)) throw error;
        fault ??= movedBy(error, offset);
        pieces.push(null);
      }
    },
  );

  return {
    write: (chunk) => splitter.write(chunk),
    end() {
      splitter.end();
      if (fault !== null) throw fault;
      const body = parseJson(Buffer.concat(skeleton).toString('utf8'), 'inexact integers');
      for (const group of elements(body, GROUPS)) {
        const trajectories = elements(group, TRAJECTORIES);
        trajectories.forEach((value, i) => {
          if (typeof value === 'string' && value.startsWith(placeholder)) {
            trajectories[i] = pieces[Number(value.slice(placeholder.length))];
          }
        });
      }
      return body;
    },
  };
}

function elements(value: unknown, key: string | undefined): unknown[] {
  if (typeof value !== 'object' || value === null || key === undefined) return [];
  const list = (value as Record<string, unknown>)[key];
  return Array.isArray(list) ? list : [];
}

/** The place of a syntax error, in the piece, as a place in the body. */
function movedBy(error: ValidationError, offset: number): ValidationError {
  return new ValidationError(
    error.items.map((item) => ({
      ...item,
      loc: item.loc.map((part) => (typeof part === 'number' ? part + offset : part)),
    })),
  );
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const KEY_LENGTH_MAX = 64;

interface Container {
  readonly opening: number;
  /** Of an object: the key whose value comes. */
  key: string;
}

/**
 * Cuts JSON bytes at the borders of pieces: objects that are elements of the lists above. What is broken stays in the
 * skeleton, whose parser finds it. Bytes beyond ASCII only occur in strings, where only quotes and backslashes count.
 */
function createSplitter(onSkeleton: (bytes: Uint8Array) => void, onPiece: (bytes: Buffer, offset: number) => void) {
  const open: Container[] = [];
  let inString = false;
  let escaped = false;
  let awaitsKey = false;
  /** Null: not inside one. */
  let key: string | null = null;
  /** Containers open inside the piece; 0: not in one. */
  let pieceDepth = 0;
  let pieceParts: Uint8Array[] = [];
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

  /** Where the piece ends, or the length of the chunk. */
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

  return {
    write(chunk: Uint8Array): void {
      let start = 0; // of what was not handed on
      for (let i = 0; i < chunk.length;) {
        if (pieceDepth > 0) {
          i = readPiece(chunk, i);
          pieceParts.push(chunk.slice(start, i));
          start = i;
          if (pieceDepth > 0) break;
          onPiece(Buffer.concat(pieceParts), pieceOffset);
          pieceParts = [];
        } else if (!inString && chunk[i] === OPEN_OBJECT && pieceBegins()) {
          onSkeleton(chunk.slice(start, i));
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
        const rest = chunk.slice(start); // a copy: the socket's buffer is used again
        if (pieceDepth > 0) pieceParts.push(rest);
        else onSkeleton(rest);
      }
      offset += chunk.length;
    },
    /** A piece that never ended belongs to the skeleton. */
    end: () => pieceParts.forEach(onSkeleton),
  };
}
