// Bodies with trajectories, parsed while they arrive: each element of `trajectory_groups[].trajectories[]` is parsed and checked
// as soon as it is complete, and its text is discarded. A body of hundreds of megabytes is never in memory as text, and other
// requests are served between any two steps. What a trajectory is, is in rows/trajectory.ts.
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createYielder } from '#base/yield-to-loop';
import { isObject } from '#base/is-object';
import type { BodyParser, CreateBodyParser } from '../http/request-body.ts';
import { findHalfCharacter, halfCharacter, refuseHalfCharacters } from '#validation/half-characters';
import type { Shape } from '#base/json-shape';
import { decodeText, notJson, readJson, scanShape } from '#validation/json-text';
import { PackedLogprobs, packLogprobs } from '#rows/token-logprobs';
import { checkTrajectory } from '#rows/trajectory';
import { readRecorded } from '../recorded/recorded-calls.ts';
import { ITEMS_MAX, ValidationError, type Loc } from '#validation/parse';
import { createTrajectorySplitter, GROUPS, TRAJECTORIES } from './trajectory-splitter.ts';

/** Each limit below corresponds to a tenth of a second, during which no other request is served. */
const PIECE_BYTES_MAX = 32_000_000;
/** Values per trajectory: 12 for each of 125,000 tokens with their log-probabilities. */
const PIECE_SHAPE: Shape = { valuesMax: 1_500_000, keysMax: 50_000 };
/** Of those, the values that are checked one by one: numbers in lists and log-probabilities do not count. */
const CHECKED_VALUES_MAX = 100_000;
/** Values outside of trajectories. */
const SKELETON_SHAPE: Shape = { valuesMax: 250_000, keysMax: 50_000 };
const PIECES_MAX = 50_000;
const SLICE_BYTES = 65_536;
const LONG_BYTES = 100_000;

interface Piece {
  readonly bytes: Buffer;
  readonly offset: number;
}

/** Returns what replaces a valid trajectory, null for an invalid one; other requests are served between its parts. */
export type CheckInParts = (trajectory: unknown, yieldToLoop: () => Promise<void>) => Promise<object | null>;

/** After an error that ends the reading, the remaining bytes are ignored. */
export function createTrainingBodyParser(check: CheckInParts): BodyParser {
  const pieces: unknown[] = [];
  /** Placeholder for a piece in the skeleton; unguessable for clients. */
  const placeholder = randomUUID();
  const skeleton: Uint8Array[] = [];
  let [skeletonBytes, pieceCount, wrongCount] = [0, 0, 0];
  let whole: Piece[] = [];
  /** By the index of the piece: where in it a text has half of a character. */
  const halves = new Map<number, Loc>();
  let fault: ValidationError | null = null;
  const yieldToLoop = createYielder();

  function addToSkeleton(bytes: Uint8Array, offset: number): void {
    skeletonBytes += bytes.length;
    if (skeletonBytes > PIECE_BYTES_MAX)
      throw notJson(offset, `More than ${PIECE_BYTES_MAX} bytes outside of trajectories`);
    skeleton.push(bytes);
  }

  const splitter = createTrajectorySplitter(PIECE_BYTES_MAX, addToSkeleton, (bytes, offset) => {
    if (pieceCount === PIECES_MAX) throw notJson(offset, `More than ${PIECES_MAX} trajectories`);
    addToSkeleton(Buffer.from(`"${placeholder}${pieceCount++}"`), offset);
    whole.push({ bytes, offset });
  });

  async function readPiece({ bytes, offset }: Piece): Promise<unknown> {
    if (wrongCount >= ITEMS_MAX) return null; // more are not told
    const step = () => (bytes.length > LONG_BYTES ? setImmediate() : undefined);
    try {
      await step();
      const text = decodeText(bytes);
      for (const _ of scanShape(text, PIECE_SHAPE)) await setImmediate();
      await step();
      const value = readJson(text, { notedUnder: 'tools' });
      await step();
      packLogprobs(value);
      const half = findHalfCharacter(text, value);
      if (half !== null) halves.set(pieces.length, half);
      if (countChecked(value, CHECKED_VALUES_MAX + 1) > CHECKED_VALUES_MAX) {
        throw notJson(0, `More than ${CHECKED_VALUES_MAX} values besides token ids and log-probabilities`);
      }
      await step();
      await readRecorded(value, yieldToLoop);
      const checked = await check(value, yieldToLoop);
      await step();
      if (checked === null) wrongCount++;
      return checked ?? value; // wrong ones stay as they came: the schema complains about them
    } catch (error) {
      throw error instanceof ValidationError ? movedBy(error, offset) : error;
    }
  }

  async function write(slice: Uint8Array): Promise<void> {
    splitter.write(slice);
    for (const piece of whole) {
      pieces.push(await readPiece(piece));
      await yieldToLoop();
    }
    whole = [];
    await yieldToLoop();
  }

  async function unlessFaulty(work: () => Promise<void>): Promise<void> {
    if (fault !== null) return;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      fault = error;
      [skeleton.length, pieces.length, whole.length] = [0, 0, 0];
    }
  }

  return {
    async write(chunk) {
      for (let at = 0; at < chunk.length && fault === null; at += SLICE_BYTES) {
        await unlessFaulty(() => write(chunk.subarray(at, at + SLICE_BYTES)));
      }
    },
    async end() {
      let body: unknown;
      await unlessFaulty(async () => {
        splitter.end();
        const text = decodeText(Buffer.concat(skeleton));
        const step = () => (text.length > LONG_BYTES ? setImmediate() : undefined);
        await step();
        if (text.trim() === '') return;
        for (const _ of scanShape(text, SKELETON_SHAPE)) await setImmediate();
        await step();
        body = readJson(text, 'rounded');
        await step();
        refuseHalfCharacters(text, body);
        for (const [g, group] of elements(body, GROUPS).entries()) {
          const trajectories = elements(group, TRAJECTORIES);
          trajectories.forEach((value, i) => {
            if (typeof value !== 'string' || !value.startsWith(placeholder)) return;
            const piece = Number(value.slice(placeholder.length));
            const half = halves.get(piece);
            if (half !== undefined) throw halfCharacter([GROUPS, g, TRAJECTORIES, i, ...half]);
            trajectories[i] = pieces[piece];
          });
        }
        await step();
      });
      if (fault !== null) throw fault;
      return body;
    },
  };
}

function elements(value: unknown, key: string | undefined): unknown[] {
  if (!isObject(value) || key === undefined) return [];
  const list = value[key];
  return Array.isArray(list) ? list : [];
}

/** At most `most`. */
function countChecked(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null || value instanceof PackedLogprobs) return 1;
  if (Array.isArray(value) && value.every((item) => typeof item === 'number')) return 1;
  let count = 1;
  for (const item of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    if (count >= most) return most;
    count += countChecked(item, most - count);
  }
  return count;
}

/** The place of a fault in the piece as a place in the body. */
function movedBy(error: ValidationError, offset: number): ValidationError {
  return new ValidationError(
    error.items.map((item) => ({
      ...item,
      loc: item.loc.map((part) => (typeof part === 'number' ? part + offset : part)),
    })),
  );
}

/** Of bodies with `trajectory_groups`. */
export const createTrajectoryBodyParser: CreateBodyParser = () => createTrainingBodyParser(checkTrajectory);
