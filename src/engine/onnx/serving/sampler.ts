// Logits → token id. Order as in the wire reference: a constraint's mask, processors, temperature, min_p, top_k, top_p,
// then one draw by inverse CDF. The slow reference (sort everything) is in sampler.test.ts. Knows one row at a time, so the
// choice cannot depend on the rest of the batch; arithmetic is float64 and uses one random number per token.
import { AppError } from '#domain/errors';
import type { SamplingParams } from '#domain/sampling';
import type { Random } from '#base/random';
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
  /** `[vocab]`; not modified. */
  readonly logits: Float32Array;
  /** log Σ exp over these logits. */
  readonly logsumexp: number;
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

export function sampleToken(input: SamplerInput, params: SamplerParams, random: Random): SampledToken {
  if (!Number.isFinite(input.logsumexp)) {
    throw new AppError(
      'engine_failed',
      `The model's logits are not finite (logsumexp ${input.logsumexp}): its weights may be damaged, or overflow.`,
    );
  }
  const { logits, logsumexp } = input.mask === null ? input : masked(input.logits, input.mask);
  const shaped = input.processors.length === 0 ? logits : logits.slice();
  for (const process of input.processors) process(shaped, input.sequence);
  const best = argmax(shaped);
  if (shaped[best] === -Infinity) {
    const message =
      'No token can come next: the constraint, allowed_token_ids, bad_words and logit_bias exclude them all.';
    throw new AppError('dead_end', message);
  }
  const tokenId = params.temperature < GREEDY_BELOW ? best : drawToken(shaped, params, random);
  return {
    tokenId,
    logprob: Math.fround(logits[tokenId]! - logsumexp),
    topLogprobs: listLogprobs(
      params.logprobTokenIds
        ? [tokenId, ...params.logprobTokenIds.filter((id) => id !== tokenId)]
        : topOf(logits, params.topLogprobs),
      logits,
      logsumexp,
    ),
  };
}

function masked(logits: Float32Array, mask: Int32Array): { logits: Float32Array; logsumexp: number } {
  const kept = new Float32Array(logits.length).fill(-Infinity);
  let max = -Infinity;
  for (let id = 0; id < logits.length; id++) {
    if ((mask[id >> 5]! & (1 << (id & 31))) === 0) continue;
    kept[id] = logits[id]!;
    if (kept[id]! > max) max = kept[id]!;
  }
  let sum = 0;
  for (const logit of kept) if (logit !== -Infinity) sum += Math.exp(logit - max);
  return { logits: kept, logsumexp: max + Math.log(sum) };
}

/** Best first; equal logits by token id. −1: all of them. */
export const listTop = (logits: Float32Array, logsumexp: number, count: number) =>
  listLogprobs(topOf(logits, count), logits, logsumexp);

const listLogprobs = (tokenIds: readonly number[], logits: Float32Array, logsumexp: number) =>
  tokenIds.map((tokenId) => ({ tokenId, logprob: Math.fround(logits[tokenId]! - logsumexp) }));

/** The candidates: tokens whose logit is above `cut`, or equal to it with an id of at most `lastId`. */
export interface Candidates {
  readonly cut: number;
  readonly lastId: number;
  /** Logit of the best token, and the total weight of the candidates: Σ exp((logit − best) / temperature). */
  readonly best: number;
  readonly weight: number;
}

/** What min_p, top_k and top_p keep, computed without sorting the vocabulary. `temperature` > 0. */
export function pickCandidates(logits: Float32Array, params: SamplerParams, temperature: number): Candidates {
  const best = logits[argmax(logits)]!;
  const hasTopK = params.topK > 0 && params.topK < logits.length;
  const kth = hasTopK ? logits[topOf(logits, params.topK).at(-1)!]! : -Infinity; // tokens equal to the k-th stay
  const leastLikely = params.minP > 0 ? best + temperature * Math.log(params.minP) : -Infinity;
  const floor = Math.max(kth, leastLikely, best - NEGLIGIBLE_NATS * temperature);
  const nucleus =
    params.topP < 1
      ? cutNucleus(logits, best, temperature, floor, params.topP)
      : { cut: floor, lastId: Infinity, weight: totalWeight(logits, best, temperature, floor) };
  return { ...nucleus, best };
}

/** One draw by inverse CDF, in order of token id. */
function drawToken(logits: Float32Array, params: SamplerParams, random: Random): number {
  const temperature = Math.max(params.temperature, MIN_TEMPERATURE);
  const { cut, lastId, best, weight } = pickCandidates(logits, params, temperature);
  let target = random.next() * weight;
  let drawn = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit < cut || (logit === cut && id > lastId)) continue;
    drawn = id;
    target -= weightAt(stepsBelow(logit, best, temperature), logit, best, temperature);
    if (target < 0) break;
  }
  return drawn; // the last candidate, if rounding left the total slightly below the target
}

function totalWeight(logits: Float32Array, best: number, temperature: number, floor: number): number {
  let total = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit >= floor) total += weightAt(stepsBelow(logit, best, temperature), logit, best, temperature);
  }
  return total;
}

/**
 * top_p: keeps a token while those before it, best first and equal ones by id, hold less than topP of the weight, so
 * the best always stays. Weights are summed by step of the logit, and only the step that contains the cut is sorted.
 */
function cutNucleus(logits: Float32Array, best: number, temperature: number, floor: number, topP: number) {
  const stepWeights = new Float64Array(EXP_STEPS.length);
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit < floor) continue;
    const step = stepsBelow(logit, best, temperature);
    stepWeights[step]! += weightAt(step, logit, best, temperature);
  }
  const limit = topP * stepWeights.reduce((sum, stepWeight) => sum + stepWeight, 0); // same order as below, so it is reached
  let weight = 0;
  let cutStep = 0;
  while (weight + stepWeights[cutStep]! < limit) weight += stepWeights[cutStep++]!;
  const inStep: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit >= floor && stepsBelow(logit, best, temperature) === cutStep) inStep.push(id);
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

function argmax(logits: Float32Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  return best;
}

const sortByLogit = (logits: Float32Array, ids: number[]): number[] =>
  ids.sort((a, b) => (logits[a]! === logits[b]! ? a - b : logits[b]! - logits[a]!)); // −∞ − −∞ is NaN

/** Ids of the `count` best, −1 for all, equal logits by id: one pass with a short sorted list, or a threshold if count is large. */
function topOf(logits: Float32Array, count: number): number[] {
  if (count === 0) return [];
  const k = count < 0 ? logits.length : count;
  if (k > 64) {
    const kth = k < logits.length ? logits.slice().sort()[logits.length - k]! : -Infinity; // sorts as numbers: 10 ms for 150k
    const candidates: number[] = [];
    for (let id = 0; id < logits.length; id++) if (logits[id]! >= kth) candidates.push(id);
    return sortByLogit(logits, candidates).slice(0, k);
  }
  const ids: number[] = [];
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (ids.length === k && !(logit > logits[ids[k - 1]!]!)) continue;
    let at = ids.length < k ? ids.length : k - 1;
    while (at > 0 && logit > logits[ids[at - 1]!]!) {
      ids[at] = ids[at - 1]!;
      at--;
    }
    ids[at] = id;
  }
  return ids;
}
