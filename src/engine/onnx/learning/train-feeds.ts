// Rows → the inputs of train-graph.ts. Rows of a batch are padded to the longest; a padding token sees only itself and
// predicts nothing, so it changes no result.
import { invariant } from '#base/invariant';
import { AppError } from '#domain/errors';
import type { LossProgram } from '../../loss-program.ts';
import type { TrainingRow } from '../../training-engine.ts';
import type { Feed } from '../graph/session.ts';
import { attentionBlocks } from './attention-mask.ts';
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

const QUERY_BLOCK_MIN = 64;
export const QUERY_BLOCK_MAX = 256;
/** Blocks of a row: attention over short ones reads less that is masked, but their results are joined one by one. */
const BLOCKS_OF_ROW = 32;

/** Tokens of a row whose attention scores are in memory at once: a power of 2. */
const queryBlock = (tokens: number): number =>
  Math.min(QUERY_BLOCK_MAX, Math.max(QUERY_BLOCK_MIN, 2 ** Math.ceil(Math.log2(tokens / BLOCKS_OF_ROW))));

export function rowFeeds(rows: readonly TrainingRow[], headChunk: number, block?: number): Feeds {
  const batch = rows.length;
  const seq = Math.max(...rows.map((row) => row.tokens.length));
  const queries = block ?? queryBlock(seq);
  const trained = trainedCount(rows);
  const tokens = new BigInt64Array(batch * seq);
  const positions = new BigInt64Array(batch * seq);
  const predictFrom = new BigInt64Array(trained);
  const targets = new BigInt64Array(trained);
  let at = 0;
  rows.forEach((row, b) => {
    row.tokens.forEach((token, i) => (tokens[b * seq + i] = BigInt(token)));
    row.positions.forEach((position, i) => (positions[b * seq + i] = BigInt(position)));
    for (let i = 0; i < row.targets.length; i++, at++) {
      predictFrom[at] = BigInt(b * seq + row.predictFrom[i]!);
      targets[at] = BigInt(row.targets[i]!);
    }
  });
  const blocks = attentionBlocks(rows, seq, queries);
  return {
    tokens: { data: tokens, dims: [batch, seq] },
    positions: { data: positions, dims: [batch, seq] },
    predict_from: { data: predictFrom, dims: [trained] },
    targets: { data: targets, dims: [trained] },
    head_chunk: { data: BigInt64Array.of(BigInt(headChunk)), dims: [] },
    query_block: { data: BigInt64Array.of(BigInt(queries)), dims: [] },
    mask: flat(blocks.mask),
    keys: flat(blocks.keys),
    key_starts: flat(blocks.keyStarts),
    mask_starts: flat(blocks.maskStarts),
  };
}

const flat = (data: Float32Array | BigInt64Array): Feed => ({ data, dims: [data.length] });

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
