// Logits → token id. Order as in the wire reference: a constraint's mask, processors, temperature, min_p, top_k, top_p,
// then one draw by inverse CDF. The slow reference (sort everything) is in sampler.test.ts. Knows one row at a time, so the
// choice cannot depend on the rest of the batch; arithmetic is float64 and uses one random number per token. What the graph knows about
// blocks of logits saves reading them: a draw from the model's own distribution reads one block of a vocabulary.
import { AppError } from '#domain/errors';
import type { SamplingParams } from '#domain/sampling';
import type { Random } from '#base/random';
import { LOGIT_BLOCK } from '../graph/log-sum-exp.ts';
import { rangesFrom, type IdRange, type LogitRow } from './logits.ts';
import type { LogitsProcessor, TokensSoFar } from './logits-processors.ts';

export interface SampledToken {
  readonly tokenId: number;
  /** Raw logit − logsumexp in float32, nats, over the tokens that the mask allows. */
  readonly logprob: number;
  readonly topLogprobs: readonly { tokenId: number; logprob: number }[];
}

export type SamplerParams = Pick<
  SamplingParams,
  'temperature' | 'topP' | 'topK' | 'minP' | 'topLogprobs' | 'logprobTokenIds'
>;

/** One position of one sequence. */
export interface SamplerInput {
  /** Not modified. */
  readonly row: LogitRow;
  /** One bit per token, little-endian words: is it allowed? Null: all are. */
  readonly mask: Int32Array | null;
  readonly processors: readonly LogitsProcessor[];
  readonly sequence: TokensSoFar;
}

const GREEDY_BELOW = 1e-5;
/** A smaller temperature above greedy is raised to this, as vLLM does: dividing by less overflows float32 logits. */
const MIN_TEMPERATURE = 0.01;
/** Tokens this many temperatures below the best weigh less than e^-30 each: even 150k of them are below 2e-8 together. */
const NEGLIGIBLE_NATS = 30;

export function sampleToken(
  { row, mask, processors, sequence }: SamplerInput,
  params: SamplerParams,
  random: Random,
): SampledToken {
  if (!Number.isFinite(row.logsumexp)) {
    throw new AppError(
      'engine_failed',
      `The model's logits are not finite (logsumexp ${row.logsumexp}): its weights may be damaged, or overflow.`,
    );
  }
  const allowed = mask === null ? row : masked(row.logits, mask);
  const { logits, logsumexp } = allowed;
  const shaped = processors.length === 0 ? allowed : { ...allowed, logits: logits.slice(), blocks: null };
  for (const process of processors) process(shaped.logits, sequence);
  const bestId = argmax(shaped);
  if (shaped.logits[bestId] === -Infinity) {
    const message =
      'No token can come next: the constraint, allowed_token_ids, bad_words and logit_bias exclude them all.';
    throw new AppError('dead_end', message);
  }
  const tokenId = params.temperature < GREEDY_BELOW ? bestId : drawToken(shaped, bestId, params, random);
  return {
    tokenId,
    logprob: Math.fround(logits[tokenId]! - logsumexp),
    topLogprobs: listLogprobs(
      params.logprobTokenIds
        ? [tokenId, ...params.logprobTokenIds.filter((id) => id !== tokenId)]
        : topOf(allowed, params.topLogprobs),
      allowed,
    ),
  };
}

/** The row with −∞ where the mask excludes a token, and what is then known of its blocks. */
function masked(logits: Float32Array, mask: Int32Array): LogitRow {
  const kept = new Float32Array(logits.length).fill(-Infinity);
  const blocks = Math.ceil(logits.length / LOGIT_BLOCK);
  const [maxima, sums] = [new Float32Array(blocks).fill(-Infinity), new Float32Array(blocks).fill(-Infinity)];
  for (let id = 0; id < logits.length; id++) {
    if ((mask[id >> 5]! & (1 << (id & 31))) === 0) continue;
    const logit = logits[id]!;
    const block = Math.floor(id / LOGIT_BLOCK);
    kept[id] = logit;
    if (logit > maxima[block]!) maxima[block] = logit;
  }
  const best = maxima.reduce((largest, maximum) => Math.max(largest, maximum), -Infinity);
  const floor = Math.max(best - NEGLIGIBLE_NATS, -Number.MAX_VALUE);
  const row = { logits: kept, logsumexp: best, blocks: { maxima, sums } };
  let total = 0;
  for (const range of rangesFrom(row, floor)) {
    const weight = weightOf(kept, range, best, 1, floor);
    sums[range.start / LOGIT_BLOCK] = best + Math.log(weight);
    total += weight;
  }
  return { ...row, logsumexp: best + Math.log(total) };
}

/** Best first; equal logits by token id. −1: all of them. */
export const listTop = (row: LogitRow, count: number) => listLogprobs(topOf(row, count), row);

const listLogprobs = (tokenIds: readonly number[], { logits, logsumexp }: LogitRow) =>
  tokenIds.map((tokenId) => ({ tokenId, logprob: Math.fround(logits[tokenId]! - logsumexp) }));

/** The candidates: tokens whose logit is above `cut`, or equal to it with an id of at most `lastId`. */
export interface Candidates {
  readonly cut: number;
  readonly lastId: number;
  /** Logit of the best token, and the total weight of the candidates: Σ exp((logit − best) / temperature). */
  readonly best: number;
  readonly weight: number;
}

/** What min_p, top_k and top_p keep, computed without sorting the vocabulary. `bestId`: of the largest logit; `temperature` > 0. */
export function pickCandidates(row: LogitRow, bestId: number, params: SamplerParams, temperature: number): Candidates {
  const { logits } = row;
  const best = logits[bestId]!;
  const hasTopK = params.topK > 0 && params.topK < logits.length;
  const kth = hasTopK ? logits[topOf(row, params.topK).at(-1)!]! : -Infinity; // tokens equal to the k-th stay
  const leastLikely = params.minP > 0 ? best + temperature * Math.log(params.minP) : -Infinity;
  const floor = Math.max(kth, leastLikely, best - NEGLIGIBLE_NATS * temperature);
  const nucleus =
    params.topP < 1
      ? cutNucleus(row, best, temperature, floor, params.topP)
      : { cut: floor, lastId: Infinity, weight: totalWeight(row, best, temperature, floor) };
  return { ...nucleus, best };
}

/** One draw by inverse CDF, in order of token id. `bestId`: of the largest logit. */
function drawToken(row: LogitRow, bestId: number, params: SamplerParams, random: Random): number {
  const { logits, blocks } = row;
  if (blocks !== null && isPlain(params)) return drawPlainly(row, blocks.sums, bestId, random);
  const temperature = Math.max(params.temperature, MIN_TEMPERATURE);
  const { cut, lastId, best, weight } = pickCandidates(row, bestId, params, temperature);
  let target = random.next() * weight;
  let drawn = bestId;
  for (const { start, end } of rangesFrom(row, cut)) {
    for (let id = start; id < end; id++) {
      const logit = logits[id]!;
      if (logit < cut || (logit === cut && id > lastId)) continue;
      drawn = id;
      target -= weightAt(stepsBelow(logit, best, temperature), logit, best, temperature);
      if (target < 0) return drawn;
    }
  }
  return drawn; // the last candidate, if rounding left the total slightly below the target
}

/** Whether tokens are drawn from the model's own distribution. */
const isPlain = ({ temperature, topK, topP, minP }: SamplerParams): boolean =>
  temperature === 1 && topK <= 0 && topP >= 1 && minP <= 0;

/**
 * The same draw from the model's own distribution: blocks are passed over by their sums, and only the one that holds the token is
 * read. A last block that the tokens do not fill has padding in its sum, so it is added up here.
 */
function drawPlainly({ logits, logsumexp }: LogitRow, sums: Float32Array, bestId: number, random: Random): number {
  const full = Math.floor(logits.length / LOGIT_BLOCK);
  const weights = new Float64Array(Math.ceil(logits.length / LOGIT_BLOCK));
  for (let block = 0; block < full; block++) weights[block] = Math.exp(sums[block]! - logsumexp);
  for (let id = full * LOGIT_BLOCK; id < logits.length; id++) weights[full]! += Math.exp(logits[id]! - logsumexp);
  let target = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  let block = 0;
  while (block < weights.length - 1 && target >= weights[block]!) target -= weights[block++]!;
  let drawn = bestId;
  for (let id = block * LOGIT_BLOCK; id < Math.min((block + 1) * LOGIT_BLOCK, logits.length); id++) {
    const weight = Math.exp(logits[id]! - logsumexp);
    if (weight > 0) drawn = id;
    target -= weight;
    if (target < 0) return drawn;
  }
  return drawn; // as above
}

function totalWeight(row: LogitRow, best: number, temperature: number, floor: number): number {
  let total = 0;
  for (const range of rangesFrom(row, floor)) total += weightOf(row.logits, range, best, temperature, floor);
  return total;
}

/** Σ exp((logit − best) / temperature) of a range, without logits below the floor. */
function weightOf(
  logits: Float32Array,
  { start, end }: IdRange,
  best: number,
  temperature: number,
  floor: number,
): number {
  let total = 0;
  for (let id = start; id < end; id++) {
    const logit = logits[id]!;
    if (logit >= floor) total += weightAt(stepsBelow(logit, best, temperature), logit, best, temperature);
  }
  return total;
}

/**
 * top_p: keeps a token while those before it, best first and equal ones by id, hold less than topP of the weight, so
 * the best always stays. Weights are summed by step of the logit, and only the step that contains the cut is sorted.
 */
function cutNucleus(row: LogitRow, best: number, temperature: number, floor: number, topP: number) {
  const { logits } = row;
  const ranges = rangesFrom(row, floor);
  const stepWeights = new Float64Array(EXP_STEPS.length);
  for (const { start, end } of ranges) {
    for (let id = start; id < end; id++) {
      const logit = logits[id]!;
      if (logit < floor) continue;
      const step = stepsBelow(logit, best, temperature);
      stepWeights[step]! += weightAt(step, logit, best, temperature);
    }
  }
  const limit = topP * stepWeights.reduce((sum, stepWeight) => sum + stepWeight, 0); // same order as below, so it is reached
  let weight = 0;
  let cutStep = 0;
  while (weight + stepWeights[cutStep]! < limit) weight += stepWeights[cutStep++]!;
  const inStep: number[] = [];
  for (const { start, end } of ranges) {
    for (let id = start; id < end; id++) {
      const logit = logits[id]!;
      if (logit >= floor && stepsBelow(logit, best, temperature) === cutStep) inStep.push(id);
    }
  }
  sortByLogit(logits, inStep);
  let lastId = -1;
  for (const id of inStep) {
    if (weight >= limit) break;
    weight += weightAt(cutStep, logits[id]!, best, temperature);
    lastId = id;
  }
  return { cut: logits[lastId]!, lastId, weight };
}

/** e^-(i / EXP_STEPS_PER_NAT) */
const EXP_STEPS_PER_NAT = 64;
const EXP_STEPS = Float64Array.from({ length: NEGLIGIBLE_NATS * EXP_STEPS_PER_NAT + 2 }, (_, i) =>
  Math.exp(-i / EXP_STEPS_PER_NAT),
);

/** How many steps, rounded, a logit is below the best. */
const stepsBelow = (logit: number, best: number, temperature: number): number =>
  (((best - logit) / temperature) * EXP_STEPS_PER_NAT + 0.5) | 0;

/** exp((logit − best) / temperature) from a table and a series: accurate to 1e-12, and 5 times faster than Math.exp. */
function weightAt(step: number, logit: number, best: number, temperature: number): number {
  const rest = (logit - best) / temperature + step / EXP_STEPS_PER_NAT; // within ±1/128
  return EXP_STEPS[step]! * (1 + rest * (1 + rest * (1 / 2 + rest * (1 / 6 + rest / 24))));
}

/** The id of the largest, the first of equal ones. */
function argmax(row: LogitRow): number {
  const { logits } = row;
  let best = 0;
  for (const { start, end, largest } of rangesFrom(row)) {
    if (!(largest > logits[best]!)) continue;
    for (let id = start; id < end; id++) if (logits[id]! > logits[best]!) best = id;
  }
  return best;
}

const sortByLogit = (logits: Float32Array, ids: number[]): number[] =>
  ids.sort((a, b) => (logits[a]! === logits[b]! ? a - b : logits[b]! - logits[a]!)); // −∞ − −∞ is NaN

/** Ids of the `count` best, −1 for all, equal logits by id: one pass with a short sorted list, or a threshold if count is large. */
function topOf(row: LogitRow, count: number): number[] {
  if (count === 0) return [];
  const { logits } = row;
  const k = count < 0 ? logits.length : count;
  if (k > 64) {
    const kth = k < logits.length ? logits.slice().sort()[logits.length - k]! : -Infinity; // sorts as numbers: 10 ms for 150k
    const candidates: number[] = [];
    for (let id = 0; id < logits.length; id++) if (logits[id]! >= kth) candidates.push(id);
    return sortByLogit(logits, candidates).slice(0, k);
  }
  const ids: number[] = [];
  const isAmong = (logit: number): boolean => ids.length < k || logit > logits[ids[k - 1]!]!;
  for (const { start, end, largest } of rangesFrom(row)) {
    if (!isAmong(largest)) continue;
    for (let id = start; id < end; id++) {
      const logit = logits[id]!;
      if (!isAmong(logit)) continue;
      let at = ids.length < k ? ids.length : k - 1;
      while (at > 0 && logit > logits[ids[at - 1]!]!) {
        ids[at] = ids[at - 1]!;
        at--;
      }
      ids[at] = id;
    }
  }
  return ids;
}
