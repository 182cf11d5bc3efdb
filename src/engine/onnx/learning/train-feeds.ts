// Rows → the inputs of train-graph.ts. Rows of a batch are padded to the longest; a padding token sees only itself and
// predicts nothing, so it changes no result.
import { invariant } from '#base/invariant';
import { AppError } from '#domain/errors';
import type { LossProgram } from '../../loss-program.ts';
import type { TrainingRow } from '../../training-engine.ts';
import type { Feed } from '../graph/session.ts';
import { writeAttentionMask } from './attention-mask.ts';
import { lossInputName, programInputs, programUses } from './lower-loss.ts';

export type Feeds = Record<string, Feed>;

export const trainedCount = (rows: readonly TrainingRow[]): number =>
  rows.reduce((sum, row) => sum + row.targets.length, 0);

/** Floats of logits in memory at once. A chunk has at least 64 tokens, because thinner matrices are slow. */
const LOGITS_MAX = 16 * 1024 * 1024;
const HEAD_CHUNK_MIN = 64;

/** Trained tokens whose logits are computed at once; `limit` null: only memory limits it. */
export const headChunk = (vocab: number, limit: number | null): number =>
  Math.min(Math.max(HEAD_CHUNK_MIN, Math.floor(LOGITS_MAX / vocab)), limit ?? Infinity);

/** Tokens whose attention scores are in memory at once. Larger blocks skip less of what is masked, smaller ones make thin matrices. */
export const QUERY_BLOCK = 256;

export function rowFeeds(rows: readonly TrainingRow[], headChunk: number, queryBlock = QUERY_BLOCK): Feeds {
  const batch = rows.length;
  const seq = Math.max(...rows.map((row) => row.tokens.length));
  const trained = trainedCount(rows);
  const tokens = new BigInt64Array(batch * seq);
  const positions = new BigInt64Array(batch * seq);
  const mask = new Float32Array(batch * seq * seq);
  const predictFrom = new BigInt64Array(trained);
  const targets = new BigInt64Array(trained);
  let at = 0;
  rows.forEach((row, b) => {
    row.tokens.forEach((token, i) => (tokens[b * seq + i] = BigInt(token)));
    row.positions.forEach((position, i) => (positions[b * seq + i] = BigInt(position)));
    writeAttentionMask(row, mask.subarray(b * seq * seq, (b + 1) * seq * seq), seq);
    for (let i = 0; i < row.targets.length; i++, at++) {
      predictFrom[at] = BigInt(b * seq + row.predictFrom[i]!);
      targets[at] = BigInt(row.targets[i]!);
    }
  });
  return {
    tokens: { data: tokens, dims: [batch, seq] },
    positions: { data: positions, dims: [batch, seq] },
    mask: { data: mask, dims: [batch, 1, seq, seq] },
    predict_from: { data: predictFrom, dims: [trained] },
    targets: { data: targets, dims: [trained] },
    head_chunk: { data: BigInt64Array.of(BigInt(headChunk)), dims: [] },
    query_block: { data: BigInt64Array.of(BigInt(queryBlock)), dims: [] },
  };
}

export function lossFeeds(rows: readonly TrainingRow[], program: LossProgram): Feeds {
  const trained = trainedCount(rows);
  const feeds: Feeds = {};
  for (const name of programInputs(program)) {
    const values = new Float32Array(trained);
    let at = 0;
    for (const row of rows) {
      const part = row.inputs[name];
      if (part?.length !== row.targets.length) {
        const found = part ? `${part.length} values` : 'nothing';
        throw new AppError(
          'invalid_request',
          `Loss ${program.name} needs input ${name} for ${row.targets.length} trained tokens, but the row has ${found}.`,
        );
      }
      values.set(part, at);
      at += part.length;
    }
    feeds[lossInputName(name)] = { data: values, dims: [trained] };
  }
  if (programUses(program, 'sequenceMean')) feeds['membership'] = membership(rows, trained);
  return feeds;
}

/** `[sequences, trained]`: 1 if the token belongs to the sequence. Ids count within a row. */
function membership(rows: readonly TrainingRow[], trained: number): Feed {
  const indexOf = new Map<string, number>();
  const owner = new Int32Array(trained);
  let at = 0;
  rows.forEach((row, b) => {
    for (const id of row.sequenceIds) {
      const key = `${b}/${id}`;
      const index = indexOf.get(key) ?? indexOf.size;
      indexOf.set(key, index);
      owner[at++] = index;
    }
  });
  invariant(at === trained, `${at} sequence ids for ${trained} trained tokens`);
  const data = new Float32Array(indexOf.size * trained);
  owner.forEach((sequence, token) => (data[sequence * trained + token] = 1));
  return { data, dims: [indexOf.size, trained] };
}
